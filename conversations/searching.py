"""All of a person's conversations searched by words: titles, and messages on every branch, the newest first.

The index is written in the transaction that writes a message, so nothing that is stored is missed. What is in the bin
stays in the index and is found by nobody: every question joins the conversations that its asker may see.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core import signing
from django.db import connection

from conversations.expiry import EndsAt
from conversations.listing import BadCursor
from conversations.models import Conversation, Message
from conversations.querysets import ConversationQuerySet
from conversations.recall.excerpts import Part, excerpt, marked
from conversations.recall.lexemes import MOST_CHARACTERS, Sought, folded, lexemes

SALT = "search"

SEARCHED_ROLES = (Message.Role.USER, Message.Role.ASSISTANT)

AT_ONCE = 20_000
"""Characters of a question that are found as soon as it is asked; the rest of a longer one once it was answered. Its
sender waits for the index."""

LOOKED_THROUGH = 4000
"""Messages, the newest, that are looked through before the index is asked, which takes 3 ms: of a word that is in most
of them, the index would name a hundred thousand, to be sorted for the sake of twenty."""

TAKEN = 200
"""Messages, the newest that match, of which those that may be seen are shown; only if they are too few, of all."""

MOST_TITLES = 5
"""Conversations shown for their titles."""

WRITE_SQL = """
    INSERT INTO conversations_searchentry (message_id, conversation_id, owner_id, said_at, words)
    SELECT m.id, m.conversation_id, c.owner_id, m.created_at,
           array_to_tsvector(array(
               SELECT c.owner_id || '.' || word FROM unnest(string_to_array(said.words, ' ')) AS word
           ))
    FROM unnest(%s::bigint[], %s::text[]) AS said (id, words)
    JOIN conversations_message m ON m.id = said.id
    JOIN conversations_conversation c ON c.id = m.conversation_id
    ON CONFLICT (message_id) DO UPDATE SET words = excluded.words
"""

NEWEST_SQL = """
    WITH newest AS MATERIALIZED (
        SELECT message_id, conversation_id, said_at FROM (
            SELECT message_id, conversation_id, said_at, words FROM conversations_searchentry
            WHERE owner_id = %s AND (said_at, message_id) < (%s, %s)
            ORDER BY said_at DESC, message_id DESC LIMIT %s
        ) AS looked_through WHERE words @@ %s::tsquery
        ORDER BY said_at DESC, message_id DESC LIMIT %s
    )
"""
"""They come in order, so it ends with the first that are enough."""

INDEXED_SQL = """
    WITH newest AS MATERIALIZED (
        SELECT message_id, conversation_id, said_at FROM (
            SELECT * FROM conversations_searchentry WHERE words @@ %s::tsquery OFFSET 0
        ) AS matching
        WHERE (said_at, message_id) < (%s, %s)
        ORDER BY said_at DESC, message_id DESC LIMIT %s
    )
"""
"""OFFSET 0: however many messages PostgreSQL thinks match, it shall ask the index, not look through all."""

VISIBLE_SQL = """
    SELECT (SELECT count(*) FROM newest), array(
        SELECT message_id FROM newest WHERE conversation_id IN ({visible})
        ORDER BY said_at DESC, message_id DESC LIMIT %s
    )
"""
"""Of the few that are looked at, which may be seen: their conversations are looked up, not all there are."""

TITLES_SQL = """
    SELECT string_agg(title, E'\\n' ORDER BY last_activity_at DESC, id DESC),
           string_agg(id::text, ' ' ORDER BY last_activity_at DESC, id DESC)
    FROM ({visible}) AS mine
"""
"""One row of two long values: ten thousand rows would take longer to send than to look through."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page of messages begins: behind this one."""

    said_at: datetime
    message_id: int

    def cursor(self) -> str:
        return signing.dumps([self.said_at.isoformat(), self.message_id], salt=SALT)

    @classmethod
    def of(cls, cursor: str) -> "Place":
        """Raises `BadCursor`."""
        try:
            said_at, message_id = signing.loads(cursor, salt=SALT)
        except signing.BadSignature as error:
            raise BadCursor from error
        return cls(datetime.fromisoformat(said_at), message_id)


@dataclass(frozen=True, slots=True)
class TitleHit:
    """A conversation whose title matches."""

    conversation: Conversation
    title: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that matches; it brings its conversation."""

    message: Message
    excerpt: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A page of messages, and on the first page the conversations that are called so."""

    titles: tuple[TitleHit, ...] = ()
    hits: tuple[Hit, ...] = ()
    next_place: Place | None = None


def write(messages: Iterable[Message], *, most: int = MOST_CHARACTERS) -> None:
    """Have messages found by the first `most` characters of their words, again if they have changed."""
    said = [(message.pk, " ".join(lexemes(message.text, most=most))) for message in messages]
    if said:
        with connection.cursor() as cursor:
            cursor.execute(WRITE_SQL, [[pk for pk, _ in said], [words for _, words in said]])


def write_asked(prompt: Message) -> None:
    """Have a new question found."""
    write([prompt], most=AT_ONCE)


def write_answered(turn_id: Any) -> None:
    """Have what a turn brought found, also the rest of a long question."""
    brought = Message.objects.filter(turn=turn_id, role__in=SEARCHED_ROLES)
    write(one for one in brought if one.role != Message.Role.USER or len(one.text) > AT_ONCE)


def search(
    visible: ConversationQuerySet, looked_for: Sought, *, owner_id: int, limit: int, after: Place | None = None
) -> Found:
    """What is found in the `visible` conversations of an owner.

    Four queries, whatever their number; five for words that few of the newest messages have. Pages after the first
    cost two or three.
    """
    if looked_for.is_empty:
        return Found()
    titles = () if after else _titled(visible, looked_for)
    ids = _matching(visible, looked_for, owner_id=owner_id, limit=limit + 1, after=after)
    found = Message.objects.filter(pk__in=ids).select_related("conversation").in_bulk()
    messages = [found[pk] for pk in ids[:limit] if pk in found]
    hits = tuple(Hit(message, excerpt(message.text, looked_for)) for message in messages)
    has_more = len(ids) > limit and messages
    return Found(titles, hits, Place(messages[-1].created_at, messages[-1].pk) if has_more else None)


def titled(visible: ConversationQuerySet, looked_for: Sought, *, most: int | None = None) -> list[str]:
    """The ids of conversations whose titles have the words, those that were active last first. One query."""
    rows, values = _compiled(visible.exclude(title="").values("id", "title", "last_activity_at"))
    with connection.cursor() as cursor:
        cursor.execute(TITLES_SQL.format(visible=rows), values)
        titles, ids = cursor.fetchone()
    matching: list[str] = []
    rarest = max((*looked_for.words, *looked_for.runs, looked_for.prefix), key=len)
    for pk, title in zip((ids or "").split(), folded(titles or "").split("\n"), strict=False):
        # The longest word first: most titles do not have it, and cost no more.
        if rarest in title and looked_for.matches(title):
            matching.append(pk)
            if len(matching) == most:
                break
    return matching


def _titled(visible: ConversationQuerySet, looked_for: Sought) -> tuple[TitleHit, ...]:
    ids = titled(visible, looked_for, most=MOST_TITLES)
    found = Conversation.objects.filter(pk__in=ids).annotate(ends_at=EndsAt())
    rows = found.order_by("-last_activity_at", "-pk") if ids else []
    return tuple(TitleHit(row, marked(row.title, looked_for)) for row in rows)


def _matching(
    visible: ConversationQuerySet, looked_for: Sought, *, owner_id: int, limit: int, after: Place | None
) -> list[int]:
    """The ids of the newest messages that match, the newest first."""
    query = _tsquery(looked_for, owner_id)
    place = [after.said_at, after.message_id] if after else ["infinity", 0]
    _, found = _visible(visible, NEWEST_SQL, [owner_id, *place, LOOKED_THROUGH, query, TAKEN], limit=limit)
    if len(found) < limit:
        taken, found = _visible(visible, INDEXED_SQL, [query, *place, TAKEN], limit=limit)
        if len(found) < limit and taken == TAKEN:  # Most of those are in the bin.
            _, found = _visible(visible, INDEXED_SQL, [query, *place, None], limit=limit)
    return found


def _visible(visible: ConversationQuerySet, newest: str, values: list[Any], *, limit: int) -> tuple[int, list[int]]:
    """How many match among the `newest`, and the ids of those that may be seen."""
    rows, more = _compiled(visible.values("pk"))
    with connection.cursor() as cursor:
        cursor.execute(newest + VISIBLE_SQL.format(visible=rows), [*values, *more, limit])
        count, found = cursor.fetchone()
    return count, found


def _compiled(rows: Any) -> tuple[str, tuple[Any, ...]]:
    """A queryset as a part of a statement."""
    sql, values = rows.order_by().query.sql_with_params()
    return sql, values


def _tsquery(looked_for: Sought, owner_id: int) -> str:
    exact = [_quoted(f"{owner_id}.{word}") for word in looked_for.exact]
    return " & ".join([*exact, *(f"{_quoted(f'{owner_id}.{word}')}:*" for word in looked_for.beginnings)])


def _quoted(lexeme: str) -> str:
    """A lexeme as a query for it and nothing else; it has neither quotes nor backslashes, being letters."""
    return f"'{lexeme}'"
