"""What was said before a message, as values for the context."""

from typing import Any

from conversations.blocks import calls_in, images_in, results_in, text_in
from conversations.context.assemble import as_turns
from conversations.context.record import Record
from conversations.context.values import Past, StoredMessage
from conversations.context.windows import MOST_MESSAGES
from conversations.models import Message, Turn

FIELDS = ("id", "parent_id", "role", "content", "tokens", "turn__status")


def past_of(parent_id: int | None, *, tokens: int, start: int | None = None) -> Past:
    """The turns of the branch that ends in `parent_id`, as far back as `tokens` reach, or to the message `start`.

    Two queries at most, whose cost is that of what they read: it does not grow with the conversation.
    """
    if parent_id is None:
        return Past()
    branch = Message.objects.branch(parent_id, rows=MOST_MESSAGES, tokens=tokens, since=start)
    rows = list(branch.values_list(*FIELDS))
    turns = as_turns(_stored(*row) for row in rows)
    first = turns[0].ids[0] if turns else None
    before = [row for row in rows if first is None or row[0] < first]
    oldest = next((row for row in rows if row[0] == first), None)
    unread = oldest[1] if oldest else parent_id
    return Past(turns, unread=unread, unread_tokens=sum(row[4] for row in before))


def window_start(parent_id: int | None, *, model: str) -> int | None:
    """Where the window of the request that brought the message `parent_id` began; None when another model got it."""
    if parent_id is None:
        return None
    asked = Turn.objects.filter(messages=parent_id, model=model).values_list("context", flat=True)
    record = Record.from_json(asked.first())
    return record.start if record else None


def stored(message: Message) -> StoredMessage:
    """The message as a value for the context."""
    return StoredMessage(
        id=message.pk,
        role=message.role,  # type: ignore[arg-type]  # the database knows only these roles
        text=message.text,
        tokens=message.tokens,
        calls=calls_in(message.content),
        results=results_in(message.content),
        images=images_in(message.content),
    )


def _stored(pk: int, _: int | None, role: Any, content: Any, tokens: int, status: str) -> StoredMessage:
    return StoredMessage(
        id=pk,
        role=role,
        text=text_in(content),
        tokens=tokens,
        calls=calls_in(content),
        results=results_in(content),
        images=images_in(content),
        is_complete=status == Turn.Status.COMPLETE,
    )
