"""The index of a conversation's messages: written behind the messages, and asked which of them match a question."""

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models import Q, QuerySet

from conversations import meaning
from conversations.models import Message
from conversations.providers.errors import ProviderError
from conversations.providers.registry import embedder
from conversations.providers.values import Embedder
from conversations.querysets import LIVE_STATUSES
from conversations.recall.languages import UNSTEMMED, stemmer_of
from conversations.recall.scores import Candidates, along_branch, relevance
from conversations.recall.words import spaced

HARMLESS = "Hello"
"""A text that no embedder refuses."""

INDEXED_ROLES = (Message.Role.USER, Message.Role.ASSISTANT)

BATCH = 64
"""Messages embedded together."""

MOST_LEXEMES = 60
"""Of a question, the longest, which are the rarest: as many as fit into a number's bits."""

MOST_LOOKS = 200_000
"""Messages × lexemes: of a question in a conversation of ten thousand messages, 20 words. A million take 40 ms."""

FEWEST_LEXEMES = 16
"""However long the conversation."""

MOST_MESSAGES = 20_000
"""Of a conversation, the newest before a question, are looked at: what a recall costs grows no further. Older ones are
still found by the search."""

RECENT = 50
"""Messages that say in which language a conversation is held by now."""

HELD_IN = 1000
"""Messages, the newest, that say in which languages a question is looked for: those it may be about."""

MOST_LANGUAGES = 3
"""Of a conversation, the most frequent."""

LEAST_SHARE = 0.02
"""Of these messages in a language, for that to be one of the conversation's own: a few are always taken for another."""

WRITE_SQL = """
    INSERT INTO conversations_embedding (message_id, conversation_id, embedder, vector, language, words, created_at)
    SELECT id, conversation_id, %s, %s::halfvec, %s, strip(to_tsvector(%s::regconfig, %s)), now()
    FROM conversations_message WHERE id = %s FOR KEY SHARE
    ON CONFLICT (message_id) DO UPDATE SET embedder = excluded.embedder, vector = excluded.vector,
        language = excluded.language, words = excluded.words, created_at = excluded.created_at
"""
"""A message that is deleted meanwhile gets no row. Where in a message its words stand is asked by nobody."""

USUAL_SQL = """
    SELECT mode() WITHIN GROUP (ORDER BY language) FROM (
        SELECT language FROM conversations_embedding WHERE conversation_id = %s ORDER BY message_id DESC LIMIT %s
    ) AS recent WHERE language <> 'simple'
"""

LEXEMES_SQL = """
    WITH newest AS (
        SELECT language FROM conversations_embedding WHERE conversation_id = %s ORDER BY message_id DESC LIMIT %s
    ), held_in AS (
        SELECT language FROM newest GROUP BY language
        HAVING count(*) >= %s * (SELECT count(*) FROM newest) ORDER BY count(*) DESC LIMIT %s
    )
    SELECT array(SELECT DISTINCT lexeme FROM held_in, unnest(to_tsvector(language::regconfig, %s)))
"""
"""The words as they are stemmed in the languages a conversation is held in: so they stand in the index."""

BRANCH_SQL = """
    SELECT string_agg(int8send(id), ''), string_agg(int8send(
        coalesce(parent_id, 0) << 2 | CASE role WHEN 'user' THEN 1 WHEN 'assistant' THEN 2 ELSE 0 END
    ), '')
    FROM (
        SELECT id, parent_id, role FROM conversations_message
        WHERE conversation_id = %s AND id <= %s ORDER BY id DESC LIMIT %s
    ) AS newest
"""

MATCHES_SQL = """
    SELECT string_agg(int8send(message_id), ''),
           string_agg(float4send(CASE WHEN embedder = %s AND vector_dims(vector) = %s
                                 THEN -(vector <#> %s::halfvec) ELSE 'NaN' END::float4), ''),
           string_agg(int8send({mask}), '')
    FROM conversations_embedding WHERE conversation_id = %s AND message_id BETWEEN %s AND %s
"""
"""One row of three long values, whatever the number of messages: ten thousand rows would take longer to send than to
find. `<#>` is the negative product."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that matches; only the order and distance of scores mean something."""

    message_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Branch:
    """The messages of a branch, oldest first; of each, the question whose turn it belongs to, 0 before the first, and
    whether it belongs into the index."""

    conversation_id: UUID
    ids: npt.NDArray[np.int64]
    questions: npt.NDArray[np.int64]
    is_said: npt.NDArray[np.bool_]

    def lacks(self, found: Candidates) -> npt.NDArray[np.int64]:
        """The ids of those that are not in the index, or not by the present embedder."""
        return np.setdiff1d(self.ids[self.is_said], found.ids[~np.isnan(found.likeness)], assume_unique=True)

    def turn_of(self, message_id: int) -> tuple[int, ...]:
        """The ids of the whole turn of one of the messages; of one before the first question, its own."""
        question = self.questions[np.searchsorted(self.ids, message_id)]
        return tuple(self.ids[self.questions == question].tolist()) if question else (message_id,)


def unindexed(conversation_id: UUID | None = None, *, model: Embedder | None = None) -> QuerySet[Message]:
    """Messages that are not in the index, or not by `model` (the installation's embedder), newest first.

    Those of a turn that is being answered still change, and wait; so do those in the bin.
    """
    messages = Message.objects.filter(role__in=INDEXED_ROLES).exclude(embedding__embedder=(model or embedder()).name)
    ended = messages.exclude(turn__status__in=LIVE_STATUSES).filter(conversation__trashed_at__isnull=True)
    return ended.filter(Q(conversation=conversation_id) if conversation_id else Q()).order_by("-pk")


def write(
    messages: Iterable[Message],
    *,
    seconds: float = meaning.INDEX_SECONDS,
    model: Embedder | None = None,
    is_hasty: bool = False,
) -> int:
    """Put messages of one conversation into the index, again if need be; returns how many. A batch takes at most so
    many seconds. What the embedder refuses is found by its words alone.

    `is_hasty`: where the language of most of a conversation is known, that of each message is not found out, which
    takes 60 MB of a process.

    Raises:
        ProviderError: the embedder did not answer.
    """
    rows = list(messages)
    model = model or embedder()
    usual = _usual_language(rows)
    is_known = is_hasty and usual != UNSTEMMED
    for at in range(0, len(rows), BATCH):
        # Two writers of the same rows take them in the same order, and neither waits in a circle.
        some = sorted(rows[at : at + BATCH], key=lambda message: message.pk)
        for few, vectors in _embedded(some, until=time.monotonic() + seconds, model=model):
            languages = [usual if is_known else stemmer_of(message.text, otherwise=usual) for message in few]
            with connection.cursor() as cursor:
                cursor.executemany(
                    WRITE_SQL,
                    [
                        (
                            model.name,
                            None if vector is None else _literal(vector),
                            language,
                            language,
                            spaced(text),
                            message.pk,
                        )
                        for message, text, vector, language in zip(
                            few, map(indexed_text, few), vectors, languages, strict=True
                        )
                    ],
                )
    return len(rows)


def _embedded(
    some: Sequence[Message], *, until: float, model: Embedder
) -> Iterator[tuple[Sequence[Message], Sequence[meaning.Vector | None]]]:
    """All together; where the embedder refuses that, by halves, so that one message keeps no other out.

    Raises:
        ProviderError: see `write`; those that were yielded before are done.
    """
    if len(some) == 1:
        yield some, [_of_one(some[0], until=until, model=model)]
        return
    texts = [indexed_text(message) for message in some]
    try:
        vectors = meaning.of_texts(some[0].conversation_id, texts, seconds=_left(until), model=model)
    except ProviderError as error:
        if error.code != "rejected":
            raise
        for half in (some[: len(some) // 2], some[len(some) // 2 :]):
            yield from _embedded(half, until=until, model=model)
    else:
        yield some, vectors


def _of_one(message: Message, *, until: float, model: Embedder) -> meaning.Vector | None:
    """None: the embedder refuses this message, and not just any."""
    try:
        return meaning.of_text(message.conversation_id, indexed_text(message), seconds=_left(until), model=model)
    except ProviderError as error:
        if error.code != "rejected":
            raise
    # Where it refuses everything, as it may with a wrong setting, the message is not at fault, and stays out.
    meaning.of_texts(message.conversation_id, [HARMLESS], seconds=_left(until), model=model)
    return None


def _left(until: float) -> float:
    return max(until - time.monotonic(), 0.0)


def indexed_text(message: Message) -> str:
    """Who speaks belongs to it: "what did you suggest" asks for the assistant's words."""
    return f"{message.role}: {message.text}"


def _usual_language(messages: Sequence[Message]) -> str:
    """The stemmer for messages too short to tell: that of most of the newest in the index, else of most of these."""
    if not messages:
        return UNSTEMMED
    with connection.cursor() as cursor:
        cursor.execute(USUAL_SQL, [messages[0].conversation_id, RECENT])
        most: str | None = cursor.fetchone()[0]
    told = Counter(stemmer_of(message.text, otherwise=UNSTEMMED) for message in ([] if most else messages))
    del told[UNSTEMMED]
    return most or next((language for language, _ in told.most_common(1)), UNSTEMMED)


def branch_of(conversation_id: UUID, head_id: int | None) -> Branch:
    """The branch that ends in `head_id`, as far back as is looked; empty if it is no message of the conversation."""
    with connection.cursor() as cursor:
        cursor.execute(BRANCH_SQL, [conversation_id, head_id or 0, MOST_MESSAGES])
        ids, facts = _ascending(cursor.fetchone(), ">i8", ">i8")
    at = along_branch(ids, facts >> 2, head_id or 0)
    ids, roles = ids[at], facts[at] & 3
    return Branch(conversation_id, ids, np.maximum.accumulate(ids * (roles == 1)), roles > 0)


def candidates(
    branch: Branch, query: str, vector: meaning.Vector | None, *, model: Embedder | None = None
) -> Candidates:
    """The indexed messages of the branch, with what they have to do with `query`, which means `vector`, if that is
    known: by `model`, or the installation's embedder."""
    if not branch.ids.size:
        return Candidates(branch.ids, np.empty((0, 0), dtype=np.bool_), np.empty(0))
    bounds = branch.ids[[0, -1]].tolist()
    meant: tuple[Any, ...] = (
        ((model or embedder()).name, len(vector), _literal(vector)) if vector is not None else ("", 0, None)
    )
    with connection.cursor() as cursor:
        lexemes = _lexemes(cursor, branch, query)
        sql = MATCHES_SQL.format(mask=_mask(len(lexemes)))
        cursor.execute(sql, [*meant, *map(_quoted, lexemes), branch.conversation_id, *bounds])
        indexed, likeness, said = _ascending(cursor.fetchone(), ">i8", ">f4", ">i8")
    at = np.flatnonzero(np.isin(indexed, branch.ids, assume_unique=True))
    says = (said[at, None] >> np.arange(len(lexemes))) & 1 == 1
    return Candidates(indexed[at], says, likeness[at].astype(np.float64))


def _lexemes(cursor: CursorWrapper, branch: Branch, query: str) -> list[str]:
    held_in: tuple[Any, ...] = (branch.conversation_id, HELD_IN, LEAST_SHARE, MOST_LANGUAGES)
    cursor.execute(LEXEMES_SQL, [*held_in, spaced(query)])
    most = min(MOST_LEXEMES, max(FEWEST_LEXEMES, MOST_LOOKS // len(branch.ids)))
    return sorted(cursor.fetchone()[0], key=len, reverse=True)[:most]


def _mask(lexemes: int) -> str:
    """A number whose bits say which of them a message has."""
    return " | ".join(f"((words @@ %s::tsquery)::int::int8 << {bit})" for bit in range(lexemes)) or "0::int8"


def ranked(found: Candidates, *, most: int, without: Collection[int] = ()) -> list[Hit]:
    """The best matches, the best first; those `without` count for the scores of others alone."""
    scores = relevance(found)
    order = np.argsort(-scores, kind="stable")
    taken = order[~np.isin(found.ids[order], list(without))][:most]
    return [Hit(pk, score) for pk, score in zip(found.ids[taken].tolist(), scores[taken].tolist(), strict=True)]


def _ascending(values: Sequence[bytes | None], *kinds: str) -> list[Any]:
    """Arrays of the machine's own numbers from what PostgreSQL sent, in the order of the first."""
    arrays = [np.frombuffer(value or b"", kind) for value, kind in zip(values, kinds, strict=True)]
    order = np.argsort(arrays[0], kind="stable")  # Of what is in order already, or reversed, this is the quickest.
    return [array[order].astype(array.dtype.newbyteorder("=")) for array in arrays]


def _literal(vector: Sequence[float]) -> str:
    return f"[{','.join(f'{value:.6g}' for value in vector)}]"


def _quoted(lexeme: str) -> str:
    """A lexeme as a query for it and nothing else."""
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
