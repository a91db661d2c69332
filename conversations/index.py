"""The index of a conversation's messages: written behind the messages, and asked which of them match a question."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import Count, QuerySet

from conversations.models import Embedding, Message
from conversations.providers.registry import embedder
from conversations.recall.languages import UNSTEMMED, stemmer_of
from conversations.recall.scores import Candidates, along_branch, relevance
from conversations.recall.words import spaced

INDEXED_ROLES = (Message.Role.USER, Message.Role.ASSISTANT)

EMBEDDED_CHARACTERS = 2000
"""Of a message whose meaning is embedded, the first: a vector of a long text means a little of everything."""

BATCH = 64
"""Messages embedded together."""

MOST_LEXEMES = 60
"""Of a question, as many as fit into a number's bits."""

WRITE_SQL = """
    INSERT INTO conversations_embedding (message_id, conversation_id, embedder, vector, language, words, created_at)
    VALUES (%s, %s, %s, %s::halfvec, %s, to_tsvector(%s::regconfig, %s), now())
    ON CONFLICT (message_id) DO UPDATE SET embedder = excluded.embedder, vector = excluded.vector,
        language = excluded.language, words = excluded.words, created_at = excluded.created_at
"""

LEXEMES_SQL = "SELECT tsvector_to_array(to_tsvector(%s::regconfig, %s) || to_tsvector(%s::regconfig, %s))"

BRANCH_SQL = """
    SELECT string_agg(int8send(id), ''), string_agg(int8send(coalesce(parent_id, 0)), '')
    FROM conversations_message WHERE conversation_id = %s
"""

MATCHES_SQL = """
    SELECT string_agg(int8send(message_id), ''), string_agg(float4send(CASE WHEN embedder = %s
        THEN -(vector <#> %s::halfvec) ELSE 'NaN' END::float4), ''), string_agg(int8send({mask}), '')
    FROM conversations_embedding WHERE conversation_id = %s
"""
"""One row of three long values, whatever the number of messages: ten thousand rows would take longer to send than to
find. `<#>` is the negative product."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that matches; only the order and distance of scores mean something."""

    message_id: int
    score: float


def unindexed(conversation_id: UUID | None = None) -> QuerySet[Message]:
    """Messages with words that are not in the index, or not by the present embedder, newest first."""
    messages = Message.objects.filter(role__in=INDEXED_ROLES).exclude(embedding__embedder=embedder().name)
    return (messages.filter(conversation=conversation_id) if conversation_id else messages).order_by("-pk")


def write(messages: Iterable[Message]) -> int:
    """Put messages of one conversation into the index, again if need be; returns how many.

    Raises:
        ProviderError: the embedder did not answer.
    """
    rows = list(messages)
    model = embedder()
    usual = usual_language(rows[0].conversation_id) if rows else UNSTEMMED
    for at in range(0, len(rows), BATCH):
        some = rows[at : at + BATCH]
        texts = [indexed_text(message) for message in some]
        vectors = model.embed([text[:EMBEDDED_CHARACTERS] for text in texts])
        with connection.cursor() as cursor:
            cursor.executemany(
                WRITE_SQL,
                [
                    _row(message, text, vector, model.name, usual)
                    for message, text, vector in zip(some, texts, vectors, strict=True)
                ],
            )
    return len(rows)


def _row(message: Message, text: str, vector: Sequence[float], model: str, usual: str) -> tuple[Any, ...]:
    language = stemmer_of(message.text, otherwise=usual)
    return (message.pk, message.conversation_id, model, _literal(vector), language, language, spaced(text))


def indexed_text(message: Message) -> str:
    """Who speaks belongs to it: "what did you suggest" asks for the assistant's words."""
    return f"{message.role}: {message.text}"


def usual_language(conversation_id: UUID) -> str:
    """The stemmer that most messages of the conversation went through."""
    counted = Embedding.objects.filter(conversation=conversation_id).values_list("language")
    most: tuple[str, int] | None = counted.annotate(count=Count("pk")).order_by("-count").first()
    return most[0] if most else UNSTEMMED


def candidates(conversation_id: UUID, head_id: int, query: str) -> Candidates:
    """The indexed messages of the branch that ends in `head_id`, with what they have to do with `query`.

    Raises:
        ProviderError: the embedder did not answer.
    """
    model = embedder()
    [vector] = model.embed([query[:EMBEDDED_CHARACTERS]])
    usual = usual_language(conversation_id)
    with connection.cursor() as cursor:
        cursor.execute(LEXEMES_SQL, [usual, spaced(query), stemmer_of(query, otherwise=usual), spaced(query)])
        lexemes = cursor.fetchone()[0][:MOST_LEXEMES]
        cursor.execute(BRANCH_SQL, [conversation_id])
        ids, parents = _ascending(cursor.fetchone(), ">i8", ">i8")
        mask = " | ".join(f"((words @@ %s::tsquery)::int::int8 << {bit})" for bit in range(len(lexemes))) or "0::int8"
        sought = [_quoted(lexeme) for lexeme in lexemes]
        cursor.execute(MATCHES_SQL.format(mask=mask), [model.name, _literal(vector), *sought, conversation_id])
        indexed, likeness, said = _ascending(cursor.fetchone(), ">i8", ">f4", ">i8")
    branch = ids[along_branch(ids, parents, head_id)]
    at = np.flatnonzero(np.isin(indexed, branch, assume_unique=True))
    says = (said[at, None] >> np.arange(len(lexemes))) & 1 == 1
    return Candidates(indexed[at], says, likeness[at].astype(np.float64))


def ranked(found: Candidates) -> list[Hit]:
    """The best match first."""
    scores = relevance(found)
    order = np.argsort(-scores, kind="stable")
    return [Hit(pk, score) for pk, score in zip(found.ids[order].tolist(), scores[order].tolist(), strict=True)]


def _ascending(values: Sequence[bytes | None], *kinds: str) -> list[Any]:
    """Arrays of the machine's own numbers from what PostgreSQL sent, in the order of the first."""
    arrays = [np.frombuffer(value or b"", kind) for value, kind in zip(values, kinds, strict=True)]
    order = np.argsort(arrays[0])
    return [array[order].astype(array.dtype.newbyteorder("=")) for array in arrays]


def _literal(vector: Sequence[float]) -> str:
    return f"[{','.join(f'{value:.6g}' for value in vector)}]"


def _quoted(lexeme: str) -> str:
    """A lexeme as a query for it and nothing else."""
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
