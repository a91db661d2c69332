"""What the messages of a branch have to do with a question, by the index."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connection

from conversations import meaning
from conversations.index.branch import Branch
from conversations.index.languages import lexemes_of
from conversations.index.packed import Integers, are_among, numbers_of
from conversations.providers.registry import embedder
from conversations.providers.values import Embedder
from conversations.recall.scores import Candidates, Floats, best_of, relevance
from conversations.recall.words import is_beginning

MOST_LEXEMES = 60
"""Of a question, the longest, which are the rarest."""

MOST_LOOKS = 200_000
"""Messages × lexemes: of a question in a conversation of ten thousand messages, 20 words."""

FEWEST_LEXEMES = 16
"""However long the conversation."""

ID_BITS, COSINE_BITS, WORD_BITS = 31, 20, 12
"""Of the number that is handed over of each message: its id, counted from the first that is looked at, how like the
question it is, and which of the first words it says. What of the others, a second number tells."""

MOST_APART = (1 << ID_BITS) - 1
"""Ids between the first and the last message: two thousand million, of all conversations together."""

SCALE = 1 << COSINE_BITS - 2
"""Steps from a cosine of 0 to one of 1; 0 stands for no cosine."""

MATCHES_SQL = f"""
    SELECT string_agg(int8send(
               ((message_id - %s) << {COSINE_BITS + WORD_BITS}) | ({{cosine}} << {WORD_BITS}) | {{first}}
           ), ''),
           {{others}}
    FROM conversations_embedding WHERE conversation_id = %s AND message_id BETWEEN %s AND %s
"""  # noqa: S608  # numbers of ours
"""One row of two long values, whatever the number of messages: ten thousand rows would take longer to send than to
find."""

COSINE = f"""
    CASE WHEN embedder = %s AND vector_dims(vector) = %s
    THEN least(greatest((1 - (vector <#> %s::halfvec)) * {SCALE}, 1), {2 * SCALE})::int8 ELSE 0 END
"""
"""`<#>` is the negative product."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that matches; only the order and distance of scores mean something."""

    message_id: int
    score: float


def candidates(
    branch: Branch, query: str, vector: meaning.Vector | None, *, model: Embedder | None = None
) -> Candidates:
    """The indexed messages of the branch, with what they have to do with `query`, which means `vector`, if that is
    known: by `model`, or the installation's embedder."""
    if not branch.ids.size:
        return Candidates(branch.ids, np.empty((0, 0), dtype=np.bool_), np.empty(0))
    most = min(MOST_LEXEMES, max(FEWEST_LEXEMES, MOST_LOOKS // len(branch.ids)))
    words = list(map(_query, lexemes_of(branch.conversation_id, query, most=most)))
    meant: list[Any] = [] if vector is None else [(model or embedder()).name, len(vector), literal(vector)]
    last = int(branch.ids[-1])
    first = max(int(branch.ids[0]), last - MOST_APART)
    with connection.cursor() as cursor:
        cursor.execute(
            _sql(words=len(words), has_meaning=vector is not None),
            [first, *meant, *words, branch.conversation_id, first, last],
        )
        numbers, others = map(numbers_of, cursor.fetchone())
    return _unpacked(numbers, others, first=first, words=len(words), branch=branch)


def _sql(*, words: int, has_meaning: bool) -> str:
    says = [_says(bit) for bit in range(min(words, WORD_BITS))], [_says(bit) for bit in range(words - WORD_BITS)]
    first, others = (" | ".join(some) or "0" for some in says)
    return MATCHES_SQL.format(
        cosine=COSINE if has_meaning else "0",
        first=first,
        others=f"string_agg(int8send({others}), '')" if says[1] else "NULL",
    )


def _says(bit: int) -> str:
    """A number with this bit, if a message says the word."""
    return f"CASE WHEN words @@ %s::tsquery THEN {1 << bit}::int8 ELSE 0 END"


def _unpacked(numbers: Integers, others: Integers, *, first: int, words: int, branch: Branch) -> Candidates:
    """Of what was handed over, that of the messages of the branch, in the order of their ids."""
    order = np.argsort(numbers, kind="stable")  # Of what is in order already, or reversed, this is the quickest.
    ids = first + (numbers[order] >> COSINE_BITS + WORD_BITS)
    is_on_branch = are_among(ids, branch.ids)
    numbers = numbers[order[is_on_branch]]
    says = _bits(numbers, min(words, WORD_BITS))
    if others.size:
        says = np.hstack([says, _bits(others[order[is_on_branch]], words - WORD_BITS)])
    return Candidates(ids[is_on_branch], says, _cosines(numbers >> WORD_BITS & (1 << COSINE_BITS) - 1))


def _bits(numbers: Integers, count: int) -> npt.NDArray[np.bool_]:
    """Numbers × their lowest bits."""
    bits: npt.NDArray[np.bool_] = (numbers[:, None] >> np.arange(count) & 1).astype(np.bool_)
    return bits


def _cosines(steps: Integers) -> Floats:
    return np.where(steps == 0, np.nan, steps / SCALE - 1)


def ranked(found: Candidates, *, most: int, without: Collection[int] = ()) -> list[Hit]:
    """The best matches, the best first; those `without` count for the scores of others alone."""
    scores = relevance(found)
    looked_for = np.flatnonzero(~np.isin(found.ids, list(without)))
    taken = looked_for[best_of(scores[looked_for], most=most)]
    return [Hit(pk, score) for pk, score in zip(found.ids[taken].tolist(), scores[taken].tolist(), strict=True)]


def literal(vector: Sequence[float]) -> str:
    """As pgvector reads it."""
    return f"[{','.join(f'{value:.6g}' for value in vector)}]"


def _query(lexeme: str) -> str:
    """A lexeme as a query for it and nothing else; a single character that may stand anywhere, for what begins so."""
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'{':*' if is_beginning(lexeme) else ''}"
