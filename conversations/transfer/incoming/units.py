"""JSON as it comes, cut into conversations: the items of a list at the top, or the one object there.

No more than one of them is in memory, and that only as long as it is within the limits.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import IO, Any

import ijson

from conversations.transfer.incoming.halves import Mended
from conversations.transfer.incoming.limits import LIMITS, FileRefused, Limits

CHUNK = 65_536
"""Bytes."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
WIDE = (b"\xff\xfe", b"\xfe\xff")
"""How UTF-16 and UTF-32 begin; without these marks they have zeros among their first bytes."""
BEGINS, ENDS = ("start_map", "start_array"), ("end_map", "end_array")

Opened = Callable[[], IO[bytes]]


class Broken(FileRefused):
    """It is not JSON, from some place on."""


@dataclass(frozen=True, slots=True)
class Unit:
    """An item as Python has it, or why it is not there."""

    value: Any = None
    refused: str = ""


def units(opened: Opened, *, limits: Limits = LIMITS, beat: Callable[[], None] = lambda: None) -> Iterator[Unit]:
    """`opened` gives the file from its beginning, again if need be. `beat` is called every few kilobytes.

    Raises:
        Broken: what comes next is no JSON; the place is told.
        FileRefused: a text is larger than is taken into memory.
    """
    cutter = _Cutter(limits)
    events: Any = ijson.sendable_list()
    parser = ijson.basic_parse_coro(events)
    with opened() as file:
        for number, piece in enumerate(_pieces(file)):
            beat()
            error = _fed(parser, piece, events)
            yield from cutter.take_all(events)
            if error:
                raise Broken(_place(opened, number)) from error
            cutter.count(len(piece), is_silent=not events)
            events.clear()
    error = _tried(parser.close, events)
    yield from cutter.take_all(events)
    if error:
        raise Broken(_place(opened)) from error


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    mended = Mended()
    piece = file.read(CHUNK).removeprefix(BYTE_ORDER_MARK)
    while piece:
        yield mended.feed(piece)
        piece = file.read(CHUNK)
    yield mended.close()


def _fed(parser: Any, piece: bytes, events: Any) -> Exception | None:
    """What is wrong; the events before that are in the list all the same."""
    # To send nothing would mean the end.
    return _tried(partial(parser.send, piece), events) if piece else None


def _tried(step: Callable[[], object], events: Any) -> Exception | None:
    try:
        step()
    except (ijson.JSONError, ArithmeticError, ValueError) as error:
        wrong: Exception = error
        return wrong
    except SystemError as error:
        # A number of thousands of digits: the parser, which is written in C, leaves an event without a value at the
        # end, and whoever looked at that would end the process.
        del events[-1]
        return error
    return None


def _place(opened: Opened, piece_number: int | None = None) -> str:
    """Where it breaks off: read once more, and the piece in question byte by byte, since the parser does not say."""
    with opened() as file:
        beginning = file.read(4)
    if beginning.startswith(WIDE) or b"\0" in beginning:
        return "This text is written in UTF-16 or UTF-32. Save it in UTF-8 and send it again."
    read, line = 0, 1
    events: Any = ijson.sendable_list()
    parser = ijson.basic_parse_coro(events)
    with opened() as file:
        for number, piece in enumerate(_pieces(file)):
            parts = (piece[at : at + 1] for at in range(len(piece))) if number == piece_number else [piece]
            for part in parts:
                if _fed(parser, part, events):
                    return f"This is no JSON any more in line {line:,}, at byte {read + 1:,}."
                read += len(part)
                line += part.count(b"\n")
                events.clear()
    return f"This JSON ends too early: in line {line:,}, after byte {read:,}."


class _Cutter:
    """Builds one unit after the other from what the parser tells."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._depth = self._bytes = self._silent = self._values = 0
        self._outermost = 0
        """Depth at which units begin: 1 inside of a list."""
        self._refused = ""
        self._builder = ijson.ObjectBuilder()
        self._is_open = False

    def take_all(self, events: Iterable[tuple[str, Any]]) -> Iterator[Unit]:
        for event, value in events:
            if unit := self._take(event, value):
                yield unit

    def count(self, size: int, *, is_silent: bool) -> None:
        """So many bytes more were read; `is_silent`: they told of nothing, since they are all inside of one text."""
        self._silent = self._silent + size if is_silent else 0
        if self._silent > self._limits.text_bytes:
            raise FileRefused(f"It holds a text of more than {self._limits.text_bytes:,} bytes, which is the most.")
        self._bytes += size
        if self._is_open and self._bytes > self._limits.conversation_bytes:
            self._refuse(f"It is larger than {self._limits.conversation_bytes:,} bytes, which is the most.")

    def _take(self, event: str, value: Any) -> Unit | None:
        if event == "start_array" and self._depth == 0 and not self._outermost:
            self._outermost = self._depth = 1
            return None
        if event == "end_array" and self._depth == 1 and self._outermost:
            self._depth = 0
            return None
        self._is_open = True
        self._add(event, value)
        self._depth += (event in BEGINS) - (event in ENDS)
        return self._finished() if self._depth == self._outermost and event != "map_key" else None

    def _add(self, event: str, value: Any) -> None:
        self._values += 1
        if self._refused:
            return
        if self._values > self._limits.values:
            self._refuse(f"It has more than {self._limits.values:,} values, which is the most.")
        elif self._depth - self._outermost > self._limits.depth:
            self._refuse(f"It is nested deeper than {self._limits.depth} levels, which is the most.")
        else:
            self._builder.event(event, float(value) if isinstance(value, Decimal) else value)

    def _refuse(self, why: str) -> None:
        self._refused = self._refused or why
        self._builder = ijson.ObjectBuilder()  # What was kept so far is let go of.

    def _finished(self) -> Unit:
        unit = Unit(refused=self._refused) if self._refused else Unit(self._builder.value)
        self._builder = ijson.ObjectBuilder()
        self._bytes = self._values = 0
        self._refused, self._is_open = "", False
        return unit
