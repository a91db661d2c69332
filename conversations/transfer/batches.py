"""Things in lists that may be held in memory together."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

ROWS_AT_ONCE = 500


def batches(things: Iterable[T], weight: Callable[[T], int], *, most: int) -> Iterator[list[T]]:
    """In order; `most`: of the weights of one list together, but where a single thing is heavier.

    A message may hold pictures, so that counting rows bounds nothing.
    """
    batch: list[T] = []
    size = 0
    for thing in things:
        its = weight(thing)
        if batch and (len(batch) == ROWS_AT_ONCE or size + its > most):
            yield batch
            batch, size = [], 0
        batch.append(thing)
        size += its
    if batch:
        yield batch
