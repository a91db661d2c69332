"""What was said before a message, as values for the context."""

import json
from typing import Any

from django.db import connection

from conversations.blocks import calls_in, images_in, results_in, text_in
from conversations.context.assemble import as_turns
from conversations.context.record import Record
from conversations.context.values import Past, StoredMessage
from conversations.context.windows import MOST_MESSAGES
from conversations.models import Message, Turn

PAST_SQL = """
    WITH RECURSIVE past (id, parent_id, role, content, tokens, is_complete, depth, spent) AS (
        SELECT m.id, m.parent_id, m.role, m.content, m.tokens, t.status = 'complete', 1,
               CASE WHEN t.status = 'complete' OR %(counts_incomplete)s THEN m.tokens::bigint ELSE 0 END
        FROM conversations_message m JOIN conversations_turn t ON t.id = m.turn_id
        WHERE m.id = %(head)s
        UNION ALL
        SELECT m.id, m.parent_id, m.role, m.content, m.tokens, t.status = 'complete', past.depth + 1,
               past.spent + CASE WHEN t.status = 'complete' OR %(counts_incomplete)s THEN m.tokens ELSE 0 END
        FROM past
        JOIN conversations_message m ON m.id = past.parent_id
        JOIN conversations_turn t ON t.id = m.turn_id
        WHERE past.depth < %(rows)s AND past.spent <= %(tokens)s AND past.id <> %(start)s
    )
    SELECT id, parent_id, role, content, tokens, is_complete FROM past ORDER BY depth DESC
"""
"""From the head towards the root, until the tokens are spent, or so many rows are read, or the start is reached. The
message that exceeds the tokens is included. The cost is that of what is read, not of the conversation."""

Row = tuple[int, int | None, Any, str, int, bool]


def past_of(parent_id: int | None, *, tokens: int, start: int | None = None, counts_incomplete: bool = True) -> Past:
    """The turns of the branch that ends in `parent_id`, as far back as `tokens` reach, or to the message `start`.

    Where turns that did not come to their end do not count, `tokens` are those of the others. One query, whose cost is
    that of what it reads: it does not grow with the conversation.
    """
    if parent_id is None:
        return Past()
    rows = _read(parent_id, tokens=tokens, start=start, counts_incomplete=counts_incomplete)
    turns = as_turns(_stored(*row) for row in rows)
    first = turns[0].ids[0] if turns else None
    before = [row for row in rows if first is None or row[0] < first]
    if rows and rows[0][1] is None:
        return Past(turns, opening=tuple(row[0] for row in before))
    oldest = next((row for row in rows if row[0] == first), None)
    unread = oldest[1] if oldest else parent_id
    return Past(turns, unread=unread, unread_tokens=sum(row[4] for row in before))


def record_before(parent_id: int | None, *, model: str) -> Record | None:
    """Of the request that brought the message `parent_id`; None when another model got it."""
    if parent_id is None:
        return None
    asked = Turn.objects.filter(messages=parent_id, model=model).values_list("context", flat=True)
    return next((Record.from_json(context) for context in asked), None)


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


def _read(head_id: int, *, tokens: int, start: int | None, counts_incomplete: bool) -> list[Row]:
    """The rows of the branch, oldest first."""
    limits = {"rows": MOST_MESSAGES, "tokens": tokens, "start": start or 0, "counts_incomplete": counts_incomplete}
    with connection.cursor() as cursor:
        cursor.execute(PAST_SQL, {"head": head_id, **limits})
        rows: list[Row] = cursor.fetchall()
    return rows


def _stored(pk: int, _: int | None, role: Any, content: str, tokens: int, is_complete: bool) -> StoredMessage:  # a row
    blocks = json.loads(content)
    return StoredMessage(
        id=pk,
        role=role,
        text=text_in(blocks),
        tokens=tokens,
        calls=calls_in(blocks),
        results=results_in(blocks),
        images=images_in(blocks),
        is_complete=is_complete,
    )
