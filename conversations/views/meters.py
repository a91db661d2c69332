"""A record as a meter and as a line in the thread: how much of the room is taken, and where the window begins."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from conversations.context.record import Record, SectionName
from conversations.outlook import Outlook
from conversations.refusals import PromptTooLong

LABELS: Mapping[SectionName, str] = {
    "system": "Instructions",
    "tools": "Tools",
    "summary": "Summary",
    "window": "Recent turns",
    "recalled": "Brought back",
    "prompt": "Your question",
    "rounds": "Tool calls and results",
}
SCALE = 1000
NARROWEST = 6
"""Of `SCALE`: what a part of a few tokens is drawn with, so that it can be seen."""


@dataclass(frozen=True)
class Part:
    """A section on the meter; `x` and `width` are of `SCALE`."""

    name: SectionName
    label: str
    tokens: int
    x: int
    width: int


@dataclass(frozen=True)
class Meter:
    """The tokens of a request against those it may have; of one that is refused, size and limit of its question."""

    tokens: int
    room: int
    parts: tuple[Part, ...] = ()
    refusal: PromptTooLong | None = None
    is_live: bool = False


@dataclass(frozen=True)
class Divider:
    """Where the window begins: before the turn of the message `start`, 0: behind everything that was said. It is
    needed where something before it is not sent, and shown on the page on which it falls.

    `before` is the question on this page that it stands before; None: it stands at the end.
    """

    start: int
    is_needed: bool = False
    is_shown: bool = False
    before: int | None = None
    has_summary: bool = False
    recalled: int = 0

    @property
    def shows(self) -> str:
        """The part of the panel that the link leads to; empty: its beginning."""
        if self.has_summary:
            return "seen-summary"
        return "seen-recalled" if self.recalled else ""


Ahead = Outlook | PromptTooLong
"""A question that is too long has no context, and the page says so."""


def or_refusal(make: Callable[[], Outlook]) -> Ahead:
    try:
        return make()
    except PromptTooLong as refusal:
        return refusal


def meter_of(ahead: Ahead) -> Meter:
    if isinstance(ahead, PromptTooLong):
        return Meter(tokens=ahead.size, room=ahead.limit, refusal=ahead)
    record, room = ahead.record, room_of(ahead.record)
    return Meter(record.tokens, room, parts=tuple(_parts(record, room)), is_live=ahead.turn is not None)


def room_of(record: Record) -> int:
    """Tokens the request could have: what it has, with all the room for earlier turns taken."""
    return max(record.tokens - record.tokens_of("window") + record.history, record.tokens)


def _parts(record: Record, room: int) -> Iterator[Part]:
    spent = 0
    for section in record.sections:
        x, spent = _scaled(spent, room), spent + section.tokens
        if section.tokens:
            width = max(_scaled(spent, room) - x, NARROWEST)
            yield Part(section.name, LABELS[section.name], section.tokens, x, width)


def _scaled(tokens: int, room: int) -> int:
    return tokens * SCALE // max(room, 1)


def is_cut(record: Record) -> bool:
    """Something before the window is not sent."""
    return any(span.reason != "not_complete" for span in record.left_out)


def divider_of(ahead: Ahead, questions: list[int]) -> Divider:
    """`questions` are those on the page, oldest first. Ids only grow along a branch."""
    if isinstance(ahead, PromptTooLong):
        return Divider(start=0)
    record, start = ahead.record, ahead.record.start
    behind = [question for question in questions if start and question >= start]
    # The window begins on a page of older turns.
    is_earlier = bool(behind) and behind == questions and behind[0] != start
    return Divider(
        start,
        is_needed=is_cut(record),
        is_shown=is_cut(record) and bool(questions) and not is_earlier,
        before=behind[0] if behind else None,
        has_summary=record.summary is not None,
        recalled=len(record.recalled),
    )
