"""Messages are put into the index: their words, and what they mean."""

import time
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q, QuerySet

from conversations import meaning
from conversations.index.branch import INDEXED_ROLES
from conversations.index.languages import usual_language
from conversations.index.matches import literal
from conversations.index.vectors import embedded, indexed_text
from conversations.models import Embedding, Message
from conversations.models.embedding import VERSION
from conversations.providers.registry import embedder
from conversations.providers.values import Embedder
from conversations.querysets import LIVE_STATUSES
from conversations.recall.languages import UNSTEMMED, stemmer_of
from conversations.recall.words import said

BATCH = 64
"""Messages embedded together."""

HOLD_SQL = "SELECT 1 FROM conversations_conversation WHERE id = %s FOR KEY SHARE"

WRITE_SQL = """
    INSERT INTO conversations_embedding
        (message_id, conversation_id, embedder, vector, language, words, version, created_at)
    SELECT id, conversation_id, %s, %s::halfvec, %s, strip(to_tsvector(%s::regconfig, %s)), %s, now()
    FROM conversations_message WHERE id = %s FOR KEY SHARE
    ON CONFLICT (message_id) DO UPDATE SET embedder = excluded.embedder, vector = excluded.vector,
        language = excluded.language, words = excluded.words, version = excluded.version,
        created_at = excluded.created_at
"""
"""A message that is deleted meanwhile gets no row. Where in a message its words stand is asked by nobody."""

REWORD_SQL = """
    UPDATE conversations_embedding
    SET language = %s, words = strip(to_tsvector(%s::regconfig, %s)), version = %s, created_at = now()
    WHERE message_id = %s AND embedder = %s
"""


def unindexed(conversation_id: UUID | None = None, *, model: Embedder | None = None) -> QuerySet[Message]:
    """Messages that are not in the index, or not by `model` (the installation's embedder), or whose words were cut by
    an older version, newest first.

    Those of a turn that is being answered still change, and wait; so do those in the bin.
    """
    current = {"embedding__embedder": (model or embedder()).name, "embedding__version": VERSION}
    ended = Message.objects.filter(role__in=INDEXED_ROLES).exclude(**current).exclude(turn__status__in=LIVE_STATUSES)
    waiting = ended.filter(conversation__trashed_at__isnull=True)
    return waiting.filter(Q(conversation=conversation_id) if conversation_id else Q()).order_by("-pk")


def write(
    messages: Iterable[Message],
    *,
    seconds: float = meaning.INDEX_SECONDS,
    model: Embedder | None = None,
    is_hasty: bool = False,
) -> int:
    """Put messages of one conversation into the index, again if need be; returns how many. A batch takes at most so
    many seconds. What the embedder refuses is found by its words alone; what it has embedded is not embedded again.

    `is_hasty`: where the language of most of a conversation is known, that of each message is not found out, which
    takes 60 MB of a process.

    Raises:
        ProviderError: the embedder did not answer.
    """
    rows = list(messages)
    model = model or embedder()
    usual = usual_language(rows)
    is_known = is_hasty and usual != UNSTEMMED
    for at in range(0, len(rows), BATCH):
        # Two writers of the same rows take them in the same order, and neither waits in a circle.
        some = sorted(rows[at : at + BATCH], key=lambda message: message.pk)
        languages = {message.pk: usual if is_known else stemmer_of(message.text, otherwise=usual) for message in some}
        meant = _embedded_before(some, model)
        _reword([message for message in some if message.pk in meant], languages, model)
        for few, vectors in embedded(
            [message for message in some if message.pk not in meant], until=time.monotonic() + seconds, model=model
        ):
            _insert(few, vectors, languages, model)
    return len(rows)


def _embedded_before(some: Sequence[Message], model: Embedder) -> set[int]:
    """The ids of those that have a vector by this embedder, or were refused by it."""
    rows = Embedding.objects.filter(message__in=some, embedder=model.name)
    return set(rows.values_list("message", flat=True))


def _reword(some: Sequence[Message], languages: dict[int, str], model: Embedder) -> None:
    values = [(*_worded(message, languages), message.pk, model.name) for message in some]
    _store(REWORD_SQL, some, values)


def _insert(
    some: Sequence[Message], vectors: Sequence[meaning.Vector | None], languages: dict[int, str], model: Embedder
) -> None:
    values = [
        (model.name, None if vector is None else literal(vector), *_worded(message, languages), message.pk)
        for message, vector in zip(some, vectors, strict=True)
    ]
    _store(WRITE_SQL, some, values)


def _store(sql: str, some: Sequence[Message], values: Sequence[tuple[Any, ...]]) -> None:
    """With the conversation held first, as whoever erases it holds it: neither waits for the other in a circle."""
    if not some:
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(HOLD_SQL, [some[0].conversation_id])
        if cursor.fetchone():
            cursor.executemany(sql, values)


def _worded(message: Message, languages: dict[int, str]) -> tuple[str, str, str, int]:
    language = languages[message.pk]
    return language, language, said(indexed_text(message)), VERSION
