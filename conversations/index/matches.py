"""What the messages of a branch have to do with a question, by the index."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.db import connection

from conversations import meaning
from conversations.index.branch import Branch
from conversations.index.languages import lexemes_of
from conversations.index.packed import BITS, Integers, are_among, numbers_of, unpacked
from conversations.providers.registry import embedder
from conversations.providers.values import Embedder
from conversations.recall.scores import Candidates, Floats, best_of, relevance
from conversations.recall.words import is_beginning

MOST_LEXEMES = 60
"""Of a question, the longest."""

MOST_LOOKS = 200_000
"""Messages × lexemes: of a question in a conversation of ten thousand messages, 20 words."""

FEWEST_LEXEMES = 16
"""However long the conversation."""

SCALE = 1 << BITS - 2
"""Steps from a cosine of 0 to one of 1, as they are packed; 0 stands for no cosine."""

MATCHES_SQL = f"""
    SELECT string_agg(int8send(message_id << {BITS} | {{likeness}}), ''){{says}}
    FROM conversations_embedding WHERE conversation_id = %s AND message_id BETWEEN %s AND %s
"""  # noqa: S608  # numbers of ours
LIKENESS = f"""
    CASE WHEN embedder = %s AND vector_dims(vector) = %s
    THEN least(greatest((1 - (vector <#> %s::halfvec)) * {SCALE}, 1), {2 * SCALE})::int8 ELSE 0 END
"""
"""`<#>` is the negative product."""

SAYS = ", string_agg(int8send(message_id), '') FILTER (WHERE words @@ %s::tsquery)"
"""Of each word the few messages that say it: to tell so of all of them would take longer than to find out."""


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
    lexemes = lexemes_of(branch.conversation_id, query, most=most)
    meant = [] if vector is None else [(model or embedder()).name, len(vector), literal(vector)]
    sql = MATCHES_SQL.format(likeness="0" if vector is None else LIKENESS, says=SAYS * len(lexemes))
    with connection.cursor() as cursor:
        bounds = branch.ids[[0, -1]].tolist()
        cursor.execute(sql, [*meant, *map(_query, lexemes), branch.conversation_id, *bounds])
        found, *said = cursor.fetchone()
    ids, steps = unpacked(found)
    at = np.flatnonzero(are_among(ids, branch.ids))
    return Candidates(ids[at], _says(ids, said)[at], _cosines(steps[at]))


def ranked(found: Candidates, *, most: int, without: Collection[int] = ()) -> list[Hit]:
    """The best matches, the best first; those `without` count for the scores of others alone."""
    scores = relevance(found)
    looked_for = np.flatnonzero(~np.isin(found.ids, list(without)))
    taken = looked_for[best_of(scores[looked_for], most=most)]
    return [Hit(pk, score) for pk, score in zip(found.ids[taken].tolist(), scores[taken].tolist(), strict=True)]


def literal(vector: Sequence[float]) -> str:
    """As pgvector reads it."""
    return f"[{','.join(f'{value:.6g}' for value in vector)}]"


def _says(ids: Integers, said: Sequence[bytes | None]) -> npt.NDArray[np.bool_]:
    """Messages × words, of the ids of those that say each word."""
    says = np.zeros((len(ids), len(said)), dtype=np.bool_)
    for word, sayers in enumerate(said):
        says[np.searchsorted(ids, numbers_of(sayers)), word] = True
    return says


def _cosines(steps: Integers) -> Floats:
    return np.where(steps == 0, np.nan, steps / SCALE - 1)


def _query(lexeme: str) -> str:
    """A lexeme as a query for it and nothing else; a single character that may stand anywhere, for what begins so."""
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'{':*' if is_beginning(lexeme) else ''}"
