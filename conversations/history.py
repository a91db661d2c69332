"""What was said before a question, as values for the context; and the record of what the model was sent of it."""

from typing import Any

from conversations.blocks import calls_in, results_in
from conversations.context.assemble import as_turns
from conversations.context.values import StoredMessage, StoredTurn
from conversations.models import Message, Turn

HISTORY_ROWS = 1000
"""Messages read of a branch at most, however small they are."""


def earlier_turns(turn: Turn, *, tokens: int) -> tuple[StoredTurn, ...]:
    """The turns before the question of `turn` on its branch, as far back as `tokens` reach, oldest first."""
    rows = Message.objects.branch(turn.prompt.parent_id, rows=HISTORY_ROWS, tokens=tokens)
    return as_turns(stored(message) for message in rows)


def stored(message: Message) -> StoredMessage:
    """The message as a value for the context."""
    return StoredMessage(
        id=message.pk,
        role=message.role,  # type: ignore[arg-type]  # the database knows only these roles
        text=message.text,
        tokens=message.tokens,
        calls=calls_in(message.content),
        results=results_in(message.content),
    )


def record_context(turn: Turn, context: dict[str, Any]) -> None:
    """Keep what the model is about to be sent, by reference."""
    Turn.objects.live().filter(pk=turn.pk).update(context=context)
