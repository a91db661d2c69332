"""Messages among their versions, as a page shows them: "2 / 3", and where its buttons lead."""

from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse

from conversations.models import Message, Turn
from conversations.tree import Child, Children, Siblings, siblings_of


@dataclass(frozen=True)
class Version:
    """A question or a reply; `message_id` is None for a reply that has no word yet."""

    conversation_id: UUID
    parent_id: int | None
    message_id: int | None
    siblings: Siblings

    @property
    def has_others(self) -> bool:
        return self.siblings.count > 1

    @property
    def anchor(self) -> str:
        """The same for all versions: where the page stands before and after going from one to another."""
        return fork_anchor(self.parent_id)

    @property
    def switch_url(self) -> str:
        return reverse("conversations:switch", args=[self.conversation_id])

    @property
    def edit_url(self) -> str:
        return reverse("conversations:edit", args=[self.conversation_id, self.message_id])

    @property
    def remove_url(self) -> str:
        return reverse("conversations:remove", args=[self.conversation_id, self.message_id])


def fork_anchor(parent_id: int | None) -> str:
    """Where the versions of what follows a message stand on the page."""
    return f"fork-{parent_id or 'beginning'}"


def version_of(message: Message, children: Children) -> Version:
    siblings = siblings_of(message.pk, children[message.parent_id])
    return Version(message.conversation_id, message.parent_id, message.pk, siblings)


def reply_version_of(turn: Turn, children: Children) -> Version | None:
    """Of the reply that a turn brought, or is about to bring beside others."""
    beside = children.get(turn.prompt_id, ())
    first = next((child.id for child in beside if child.turn_id == turn.pk), None)
    if first is not None:
        return Version(turn.conversation_id, turn.prompt_id, first, siblings_of(first, beside))
    if turn.is_live and beside:
        # Its place is known before its first word.
        siblings = siblings_of(0, [*beside, Child(0, turn.pk)])
        return Version(turn.conversation_id, turn.prompt_id, None, siblings)
    return None
