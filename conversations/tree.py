"""The tree of a conversation: which messages are versions of each other, and where its owner stands in it.

Children of one message are versions of what follows it; the messages without a parent are versions of the beginning.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Max, Q
from django.http import Http404

from conversations.models import Conversation, Hold, Message
from conversations.querysets import present
from conversations.refusals import GONE, Held

WHOLE_BRANCH = 2**31 - 1
"""Rows: more than any branch has."""


@dataclass(frozen=True, slots=True)
class Child:
    """A message as its versions see it."""

    id: int
    turn_id: UUID


@dataclass(frozen=True, slots=True)
class Siblings:
    """Where a message stands among its versions; `position` counts from 1, `previous` and `next` are ids."""

    position: int
    count: int
    previous: int | None
    next: int | None


Children = Mapping[int | None, Sequence[Child]]
"""What hangs off each message, oldest first; None stands for the beginning."""


def children_of(conversation: Conversation, parents: Collection[int | None]) -> Children:
    """One query, whatever the number of parents."""
    known = [parent for parent in parents if parent is not None]
    hanging = Q(parent_id__in=known) | Q(parent__isnull=True) if None in parents else Q(parent_id__in=known)
    rows = Message.objects.filter(hanging, conversation=conversation).order_by("id")
    children: dict[int | None, list[Child]] = defaultdict(list)
    for parent_id, pk, turn_id in rows.values_list("parent_id", "id", "turn_id"):
        children[parent_id].append(Child(pk, turn_id))
    return children


def siblings_of(message_id: int, versions: Sequence[Child]) -> Siblings:
    """Where the message stands among the children of its parent."""
    ids = [child.id for child in versions]
    at = ids.index(message_id)
    return Siblings(
        position=at + 1,
        count=len(ids),
        previous=ids[at - 1] if at > 0 else None,
        next=ids[at + 1] if at + 1 < len(ids) else None,
    )


def locked(conversation_id: UUID) -> Conversation:
    """The row, held until the transaction ends: everything that moves a head waits here.

    Raises:
        Http404: it is gone, over by rule, or in the bin.
    """
    rows = Conversation.objects.select_for_update().filter(present(), pk=conversation_id)
    conversation: Conversation | None = rows.first()
    if conversation is None:
        raise Http404(GONE.format("conversation"))
    return conversation


def refuse_when_held(conversation: Conversation) -> None:
    """Before anything of it is deleted for good; whoever asks holds the conversation.

    Raises:
        Held
    """
    if held := Hold.objects.on_conversations([conversation.pk]):
        raise Held(held)


def message_in(conversation: Conversation, message_id: int) -> Message:
    """Raises `Http404` when it is not one of the conversation's."""
    message: Message | None = Message.objects.filter(conversation=conversation, pk=message_id).first()
    if message is None:
        raise Http404(GONE.format("message"))
    return message


def is_on_branch(message_id: int, *, head_id: int | None) -> bool:
    """Whether the branch that ends in `head_id` leads through the message."""
    return Message.objects.branch(head_id, rows=WHOLE_BRANCH).filter(pk=message_id).exists()


def resting_place(message: Message) -> int:
    """Where the owner was last below `message`, else the newest message below it.

    Ids only grow, so the newest of all below a message is the end of a branch.
    """
    below = Message.objects.below(message.resume_at_id or message.pk)
    newest: int = below.aggregate(newest=Max("pk"))["newest"]
    return newest


def place_for_question(conversation: Conversation, parent_id: int | None) -> int | None:
    """What a question hangs off when its sender saw `parent_id`: the beginning, or the end of a reply.

    Who saw a question or a part of its reply means the reply's end; a question without a reply stays what it was, and
    so does one behind which another question stands: it is a version of that one which is asked.

    Raises:
        Http404: the message is not one of the conversation's.
    """
    if parent_id is None:
        return None
    seen: Message | None = message_in(conversation, parent_id)
    replies = Message.objects.filter(conversation=conversation).exclude(role=Message.Role.USER).order_by("pk")
    if seen is not None and seen.role == Message.Role.USER:
        if Message.objects.filter(parent=seen, role=Message.Role.USER).exists():
            return parent_id
        seen = replies.filter(parent=seen).last()
    end = replies.filter(turn_id=seen.turn_id).last() if seen else None
    return end.pk if end else parent_id


def is_place_for(question: Message, seen_id: int | None) -> bool:
    """Whether a stored question may be the one of a sender who saw `seen_id`; see `place_for_question`.

    Also of one who sends it again from a page that shows it already.
    """
    if question.parent_id == seen_id or seen_id is None:
        return question.parent_id == seen_id
    seen = Message.objects.filter(conversation=question.conversation_id, pk=seen_id).first()
    if seen is None:
        return False
    if question.parent is not None and question.parent.role != Message.Role.USER:
        reply = question.parent.turn
        if seen_id == reply.prompt_id or (seen.role != Message.Role.USER and seen.turn_id == reply.pk):
            return True
    return is_on_branch(question.pk, head_id=seen_id)


def move_head(conversation: Conversation, to: int | None) -> None:
    """Go to a message, and remember where the branch that is left was left. With the conversation held."""
    here = conversation.head_id
    if here is not None and here != to:
        way = Message.objects.branch(here, rows=WHOLE_BRANCH)
        left = way.exclude(pk__in=Message.objects.branch(to, rows=WHOLE_BRANCH).values("pk")).order_by("pk")
        Message.objects.filter(pk__in=left.values("pk")[:1]).update(resume_at=here)
    conversation.head_id = to
    conversation.save(update_fields=["head"])
