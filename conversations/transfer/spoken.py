"""The active branch as a person reads it: who said what, when, and how it ended; whatever the file is written in."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from conversations.blocks import images_in, text_in
from conversations.models import Message
from conversations.outcomes import outcome_sentence
from conversations.providers.registry import chat_model_info
from conversations.providers.values import Image
from conversations.querysets import LIVE_STATUSES
from conversations.tools.lines import CallLine, lines_of, results_by_call
from conversations.transfer.content import Content
from conversations.transfer.rows import MessageRow, TurnRow

YOU = "You"
CUT_OFF = "The reply reached the length it may have and ends here."
MOST_HELD = 50
"""Messages of one answer. Programs may append thousands to one turn."""
STILL_WRITTEN = "This reply was still being written when this file was made."


@dataclass(frozen=True)
class Words:
    text: str


Part = Words | CallLine | Image


@dataclass(frozen=True)
class Spoken:
    """What one side said until it was the other's turn. `notes` are sentences of ours about it."""

    speaker: str
    at: datetime
    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()
    is_person: bool = False


@dataclass
class _Exchange:
    opening: MessageRow | None = None
    turns: list[TurnRow] = field(default_factory=list)
    answers: list[MessageRow] = field(default_factory=list)
    goes_on: bool = False
    """More of the same answer follows."""


def spoken(content: Content) -> Iterator[Spoken]:
    """A turn is held in memory at a time, and of a long one a part. What a model thought is left out."""
    for exchange in _exchanges(content):
        if opening := exchange.opening:
            yield _opening(opening)
        if exchange.turns or exchange.answers:
            yield _reply(exchange)


def moment(at: datetime) -> str:
    """To the minute, in UTC: a file is read anywhere."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _exchanges(content: Content) -> Iterator[_Exchange]:
    """Each question with the turns that tried to answer it, and the answer of this branch."""
    exchange = _Exchange()
    for message, turns in content.spoken():
        if message.role in (Message.Role.ASSISTANT, Message.Role.TOOL):
            if len(exchange.answers) >= MOST_HELD and message.role == Message.Role.ASSISTANT:
                # Here no call waits for its result.
                exchange.goes_on = True
                yield exchange
                exchange = _Exchange(None, exchange.turns)
            exchange.answers.append(message)
            continue
        yield exchange
        exchange = _Exchange(message, turns)
    yield exchange


def _opening(message: MessageRow) -> Spoken:
    is_person = message.role == Message.Role.USER
    parts = tuple(_said(json.loads(message.content)))
    return Spoken(YOU if is_person else "System", message.created_at, parts, is_person=is_person)


def _reply(exchange: _Exchange) -> Spoken:
    turn = _turn_of(exchange)
    contents = [(answer.role, json.loads(answer.content)) for answer in exchange.answers]
    results = results_by_call(content for _, content in contents)
    is_live = turn is not None and turn.status in LIVE_STATUSES
    parts: list[Part] = []
    for role, content in contents:
        if role == Message.Role.ASSISTANT:
            parts += [*_said(content), *lines_of(content, results, is_live=is_live)]
    at = exchange.answers[0].created_at if exchange.answers else exchange.turns[-1].created_at
    return Spoken(_name_of(turn), at, tuple(parts), () if exchange.goes_on or not turn else tuple(_notes(turn)))


def _turn_of(exchange: _Exchange) -> TurnRow | None:
    """The turn that gave this answer; without one, the newest attempt."""
    given = exchange.answers[-1].turn if exchange.answers else None
    return next((turn for turn in reversed(exchange.turns) if given in (None, turn.id)), None)


def _name_of(turn: TurnRow | None) -> str:
    return chat_model_info(turn.model).label if turn and turn.model else "Assistant"


def _said(content: Any) -> Iterator[Words | Image]:
    yield from images_in(content)
    text = text_in(content)
    if text.strip():
        yield Words(text)


def _notes(turn: TurnRow) -> Iterator[str]:
    if turn.status in LIVE_STATUSES:
        yield STILL_WRITTEN
    if sentence := outcome_sentence(turn.status, turn.error_code, was_begun=turn.started_at is not None):
        yield sentence
    if turn.was_cut_off:
        yield CUT_OFF
