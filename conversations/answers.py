"""The messages of a reply, written as they become known: what the model said, what its tools returned, its answer.

They are a chain: the first answers the question, each following one answers the one before.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from conversations.blocks import calls_in, words_in
from conversations.models import Conversation, Message, Turn
from conversations.text import clean_blocks, estimate_tokens


@dataclass(frozen=True, slots=True)
class Said:
    """A message to be stored. `counted`: tokens the provider counted, None when it is to be estimated."""

    role: Message.Role
    content: list[dict[str, Any]]
    counted: int | None = None
    reasoning: int | None = None
    """Of those, tokens of reasoning, where the provider tells them apart."""
    is_partial: bool = False
    """More is to come; nothing is counted yet."""

    def as_fields(self) -> dict[str, Any]:
        return {"content": clean_blocks(self.content), **self._tokens()}

    def _tokens(self) -> dict[str, Any]:
        """What the message will take when it is sent again: text, calls and results, without the reasoning.

        The provider's count is that, unless it counted reasoning as well without saying how much.
        """
        if self.is_partial:
            return {"tokens": 0, "tokens_source": Message.TokensSource.ESTIMATE}
        own = (self.counted or 0) - (self.reasoning or 0)
        if own > 0 and (self.reasoning or all(block["type"] != "thinking" for block in self.content)):
            return {"tokens": own, "tokens_source": Message.TokensSource.USAGE}
        return {"tokens": estimate_tokens(words_in(self.content)), "tokens_source": Message.TokensSource.ESTIMATE}


def reply_messages(turn: Turn) -> QuerySet[Message]:
    """The messages of one attempt to answer, in order."""
    return Message.objects.filter(turn=turn).exclude(role=Message.Role.USER).order_by("id")


def joined_text(messages: Iterable[Message]) -> str:
    """What was said between calls of tools, as one text."""
    return "\n\n".join(message.text for message in messages if message.text.strip())


def reply_text(turn: Turn) -> str:
    return joined_text(reply_messages(turn).filter(role=Message.Role.ASSISTANT))


def write(turn: Turn, said: Sequence[Said]) -> None:
    """Make these the messages of the reply. Whoever writes holds the conversation.

    `said` is the whole reply so far. The newest stored message is updated, since it may have grown; those before it
    are as they will stay. A new one becomes the head, unless the owner has moved to another branch.
    """
    stored = list(reply_messages(turn).values_list("pk", flat=True))
    if len(stored) > len(said):
        return  # Written by somebody who knew more.
    if stored:
        Message.objects.filter(pk=stored[-1]).update(**said[len(stored) - 1].as_fields())
    parent_id = stored[-1] if stored else turn.prompt_id
    for one in said[len(stored) :]:
        message = Message.objects.create(
            conversation_id=turn.conversation_id, turn=turn, parent_id=parent_id, role=one.role, **one.as_fields()
        )
        Conversation.objects.filter(pk=turn.conversation_id, head_id=parent_id).update(head=message)
        Conversation.objects.filter(pk=turn.conversation_id).update(last_activity_at=message.created_at)
        parent_id = message.pk


def keep_shown(turn: Turn, text: str, *, calls: int) -> None:
    """Keep what viewers saw of a lost worker's reply, after `calls` calls of tools, beyond its last save.

    Of two states of one text the longer is the later.
    """
    rows = list(reply_messages(turn))
    if calls != sum(len(calls_in(row.content)) for row in rows):
        return  # What was stored goes further than what was shown.
    last = rows[-1] if rows and rows[-1].role == Message.Role.ASSISTANT else None
    if last and calls_in(last.content):
        return  # No word follows calls without results.
    if not (text.startswith(last.text) and len(text) > len(last.text) if last else bool(text.strip())):
        return
    others = [block for block in last.content if block["type"] != "text"] if last else []
    newest = Said(Message.Role.ASSISTANT, [*others, {"type": "text", "text": text}], is_partial=True)
    before = rows[:-1] if last else rows
    write(turn, [*(Said(Message.Role(row.role), row.content) for row in before), newest])


def settle_tokens(turn: Turn) -> None:
    """Nobody will report what a lost worker's last message took: estimate it from what was kept."""
    for row in reply_messages(turn).filter(tokens=0):
        Message.objects.filter(pk=row.pk).update(tokens=estimate_tokens(words_in(row.content)))
