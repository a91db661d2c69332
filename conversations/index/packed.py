"""Many numbers in one long value: ten thousand rows would take PostgreSQL and us longer to hand over than to find."""

from typing import Any

import numpy as np
import numpy.typing as npt

BITS = 20
"""Of a packed number, the lower: something about the message whose id the others are."""

MASK = (1 << BITS) - 1

Integers = npt.NDArray[np.int64]


def unpacked(value: bytes | None) -> tuple[Integers, Integers]:
    """The ids, ascending, and what stands beside them, of `string_agg(int8send(id << BITS | beside), '')`."""
    numbers = numbers_of(value)
    # Of what is in order already, or reversed, a stable sort is the quickest.
    numbers.sort(kind="stable")
    return numbers >> BITS, numbers & MASK


def are_among(ids: Integers, others: Integers) -> npt.NDArray[np.bool_]:
    """Which of the ids are among others, of which there is one or more; both ascend."""
    found: npt.NDArray[np.bool_] = others[np.minimum(np.searchsorted(others, ids), len(others) - 1)] == ids
    return found


def numbers_of(value: bytes | None) -> Integers:
    """Of `string_agg(int8send(…), '')`; none of None, which stands for no rows."""
    sent: npt.NDArray[Any] = np.frombuffer(value or b"", ">i8")
    return sent.astype(np.int64)
