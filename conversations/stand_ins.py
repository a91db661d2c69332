"""Which summaries stand for the beginning of a branch."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from conversations.context.values import Summary
from conversations.models import Conversation

MOST_ROWS = 2000
"""Messages between a window and the summary before it that a question waits for. They are hardly ever more than a few:
a window begins where what is summarised ends."""

STAND_INS_SQL = """
    WITH RECURSIVE walk (id, parent_id, depth) AS (
        SELECT id, parent_id, 1 FROM conversations_message WHERE id = %(before)s
        UNION ALL
        SELECT m.id, m.parent_id, walk.depth + 1
        FROM walk JOIN conversations_message m ON m.id = walk.parent_id
        WHERE walk.depth < %(rows)s
          AND NOT EXISTS (
            SELECT FROM conversations_summary s
            WHERE s.conversation_id = %(conversation)s AND s.through_message_id = walk.id
          )
          AND m.id >= (
            SELECT min(through_message_id) FROM conversations_summary WHERE conversation_id = %(conversation)s
          )
    )
    SELECT DISTINCT ON (through_message_id)
           id, CASE WHEN %(with_words)s THEN text ELSE left(ltrim(text), 1) END, tokens, through_message_id,
           source = 'user'
    FROM conversations_summary
    WHERE conversation_id = %(conversation)s
      AND through_message_id = ANY (%(read)s::bigint[] || ARRAY(SELECT id FROM walk ORDER BY depth DESC LIMIT 1))
    ORDER BY through_message_id, id DESC
"""
"""The newest version of each summary that ends at one of the messages `read`, and of the nearest one that ends at
`before` or above it. A walk to the nearest alone, along ids that only grow, and not above the first there is: the cost
is that of the way, not of the conversation."""


def has_summaries(conversation: Conversation) -> bool:
    """Whether any are made and sent: the installation and the owner want them."""
    return bool(settings.POCKETCHAT_SUMMARIES and conversation.summarises)


def stand_ins(
    conversation_id: UUID,
    *,
    read: Collection[int] = (),
    before: int | None,
    rows: int = MOST_ROWS,
    with_words: bool = True,
) -> tuple[Summary, ...]:
    """The summaries of a branch, those with fewer messages first: all that end at one of the messages `read`, and of
    the others the newest that ends at the message `before` or above it, at most so many rows away.

    Without words each text is its first letter, which tells whether there is one.
    """
    limits: dict[str, Any] = {"conversation": conversation_id, "read": list(read), "before": before or 0, "rows": rows}
    limits["with_words"] = with_words
    with connection.cursor() as cursor:
        cursor.execute(STAND_INS_SQL, limits)
        return tuple(Summary(*row) for row in cursor.fetchall())
