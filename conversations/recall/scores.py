"""How well the messages of a branch match a question: words and meaning, each where it is strong.

Measured on public sets (`make bench-recall`): embeddings alone find names, dates and places badly; words alone find
nothing that is said in other words. Both scores are brought to one scale (z-scores) and added. Ranks added in
place of scores (reciprocal rank fusion) are worse here than words alone.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

BORROWED = 0.4
"""What a word is worth that the message before or after says, to a message that does not say it itself. "Yes, last
Tuesday" answers the question next to it; a word said by both counts once, so that long talk about one thing does not
drown the one message that names two."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The messages of a branch, oldest first. Row i of each array is about message `ids[i]`."""

    ids: npt.NDArray[np.int64]
    says: npt.NDArray[np.bool_]
    """Messages × words of the question: whether the message says the word, however often."""
    likeness: Floats
    """Cosine of the message's embedding with that of the question; NaN where there is none."""


def relevance(candidates: Candidates) -> Floats:
    """The score of each message; the higher, the better. Only their order and distance mean something."""
    return standardised(by_words(candidates.says)) + standardised(candidates.likeness)


def by_words(says: npt.NDArray[np.bool_], *, borrowed: float = BORROWED) -> Floats:
    """The rarer a word in this conversation, the more it tells; a message borrows from those beside it.

    How often a message says a word, and how long it is, are left out on purpose: in talk both hurt.
    """
    messages, _ = says.shape
    said = says.sum(axis=0)
    rarity = np.log(1 + (messages - said + 0.5) / (said + 0.5))
    own = says * rarity
    beside = np.zeros_like(own)
    beside[1:] = own[:-1]
    beside[:-1] = np.maximum(beside[:-1], own[1:])
    total: Floats = np.maximum(own, borrowed * beside).sum(axis=1)
    return total


def standardised(scores: Floats) -> Floats:
    """Mean 0 and deviation 1, so that two kinds of score can be added; what is unknown is average."""
    known = scores[~np.isnan(scores)]
    if not known.size or (deviation := float(known.std())) < 1e-9:
        return np.zeros_like(scores)
    result: Floats = np.nan_to_num((scores - known.mean()) / deviation, nan=0.0)
    return result


def best_of(scores: Floats, *, most: int) -> npt.NDArray[np.intp]:
    """The places of the highest scores, the highest first, of equal ones the first; without sorting all the others."""
    if most >= len(scores):
        return np.argsort(-scores, kind="stable")
    least = np.partition(scores, -most)[-most]
    places = np.flatnonzero(scores >= least)
    return places[np.argsort(-scores[places], kind="stable")][:most]


def along_branch(ids: npt.NDArray[np.int64], parents: npt.NDArray[np.int64], head: int) -> npt.NDArray[np.intp]:
    """The places of the messages of the branch that ends in `head`, oldest first, as far back as they are among `ids`.

    `ids` ascend; `parents` holds 0 for a message without one. Empty when the head is not among them.
    """
    place = int(np.searchsorted(ids, head))
    if place >= len(ids) or ids[place] != head:
        return np.array([], dtype=np.intp)
    above = np.searchsorted(ids, parents)
    is_known = ids[np.minimum(above, len(ids) - 1)] == parents
    # Most messages follow the one before them, so the way is taken in runs of those.
    begins = np.flatnonzero(~is_known | (above != np.arange(len(ids)) - 1))
    runs: list[npt.NDArray[np.intp]] = []
    while True:
        first = int(begins[np.searchsorted(begins, place, side="right") - 1])
        runs.append(np.arange(first, place + 1))
        if not is_known[first]:
            return np.concatenate(runs[::-1])
        place = int(above[first])
