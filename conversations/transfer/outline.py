"""Where each message of a conversation hangs, and how much it weighs: all that is kept of it while it is exported."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from conversations.transfer.batches import batches

BYTES_AT_ONCE = 4_000_000
"""As the database stores them."""


class Outline:
    """24 bytes a message, in order of ids; the words are read when they are needed, a batch at a time."""

    def __init__(self, messages: Iterable[tuple[int, int | None, int]]) -> None:
        """`messages`: id, parent, bytes; in order of ids."""
        self._ids, self._parents, self._bytes = array("q"), array("q"), array("q")
        for pk, parent, size in messages:
            self._ids.append(pk)
            self._parents.append(parent or 0)
            self._bytes.append(size)

    def branch(self, head: int | None) -> Sequence[int]:
        """The ids from the root to `head`."""
        way = array("q")
        at = head or 0
        while at:
            way.append(at)
            at = self._parents[self._place(at)]
        way.reverse()
        return way

    def batches(self, ids: Sequence[int] | None = None) -> Iterator[list[int]]:
        """All ids, or those given, in lists whose messages may be held in memory together."""
        chosen = self._ids if ids is None else ids
        return batches(chosen, lambda pk: self._bytes[self._place(pk)], most=BYTES_AT_ONCE)

    def _place(self, pk: int) -> int:
        return bisect_left(self._ids, pk)
