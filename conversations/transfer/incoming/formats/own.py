"""Conversations as we give them out ourselves, see `schemas/conversation-1.json`: nothing is lost on the way back."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

from conversations.querysets import LIVE_STATUSES, TERMINAL_STATUSES
from conversations.transfer.as_json import FORMAT, VERSION
from conversations.transfer.incoming.containers import Container
from conversations.transfer.incoming.limits import LIMITS, Unfit
from conversations.transfer.incoming.reading import items, mapping, moment, text
from conversations.transfer.incoming.trees import too_many_messages
from conversations.transfer.incoming.values import NewConversation, NewMessage, NewSummary, NewTurn

NAME = "pocketchat"
LABEL = "PocketChat"

V = TypeVar("V")
MOST = 2**31 - 1
"""Of a count that the database keeps."""


def is_one(value: Any) -> bool:
    return isinstance(value, dict) and value.get("format") == FORMAT


def read(value: dict[str, Any], container: Container, *, now: datetime) -> NewConversation:  # noqa: ARG001  # all in it
    """Raises `Unfit`."""
    if value.get("version") != VERSION:
        raise Unfit(f"It is of version {value.get('version')!r} of its format; this server reads version {VERSION}.")
    told = mapping(value.get("conversation"))
    if len(items(value.get("messages"))) > LIMITS.messages:
        raise Unfit(too_many_messages(len(value["messages"]), LIMITS))
    begun = _time(told, "created_at", now)
    turns, numbers = _turns(value, now)
    messages = tuple(_messages(value, numbers, now))
    known = {message.number for message in messages}
    _check_references(messages, turns, known)
    return NewConversation(
        source=NAME,
        source_id=text(told.get("id")),
        title=text(told.get("title")),
        title_source=_one_of(told, "title_source", ("none", "fallback", "model", "user")),
        created_at=begun,
        last_activity_at=_time(told, "last_activity_at", now),
        messages=messages,
        turns=turns,
        head=_known(told.get("head"), known),
        summaries=tuple(_summaries(value, known, now)),
        model=text(told.get("model")),
        system_prompt=text(told.get("system_prompt")),
        pinned=told.get("pinned") is True,
        archived=told.get("archived") is True,
        temporary=told.get("temporary") is True,
        kept=told.get("kept") is True and told.get("temporary") is not True,
        summarises=told.get("summarises") is not False,
    )


def _turns(value: Mapping[str, Any], now: datetime) -> tuple[tuple[NewTurn, ...], dict[str, int]]:
    found: list[NewTurn] = []
    numbers: dict[str, int] = {}
    for number, row in enumerate(map(mapping, items(value.get("turns")))):
        numbers[text(row.get("id"))] = number
        status = _one_of(row, "status", (*LIVE_STATUSES, *TERMINAL_STATUSES))
        created_at = _time(row, "created_at", now)
        finished_at = _time_or_none(row, "finished_at", now)
        # It was being answered when the file was made: nobody answers it here.
        is_live = status in LIVE_STATUSES
        facts = {
            "started_at": _time_or_none(row, "started_at", now),
            "finished_at": finished_at or created_at,
            "stop_requested_at": _time_or_none(row, "stop_requested_at", now),
            **{name: _count_or_none(row, name) for name in ("input_tokens", "output_tokens", "cached_tokens")},
            "cost": _money(row),
            "error_code": (text(row.get("error_code"))[:40] or "internal") if status == "failed" else "",
            "was_cut_off": row.get("was_cut_off") is True,
        }
        context = row.get("context")
        found.append(
            NewTurn(
                number,
                _number(row, "prompt"),
                created_at,
                text(row.get("model")),
                "interrupted" if is_live else status,
                facts,
                context if isinstance(context, dict) else None,
            )
        )
    return tuple(found), numbers


def _messages(value: Mapping[str, Any], turns: Mapping[str, int], now: datetime) -> Iterator[NewMessage]:
    before = 0
    for row in map(mapping, items(value.get("messages"))):
        number, parent = _number(row, "id"), row.get("parent")
        if number <= before or not (parent is None or (isinstance(parent, int) and parent < number)):
            raise Unfit(f"Message {number} does not stand behind those it follows.")
        before = number
        turn = turns.get(text(row.get("turn")))
        if turn is None:
            raise Unfit(f"Message {number} belongs to a turn that is not in the file.")
        yield NewMessage(
            number,
            parent,
            turn,
            _one_of(row, "role", ("system", "user", "assistant", "tool")),  # type: ignore[arg-type]  # it is one of them
            tuple(block for block in items(row.get("content")) if isinstance(block, dict)),
            _time(row, "created_at", now),
            _count(row, "tokens"),
            _one_of(row, "tokens_source", ("usage", "estimate")),
            resume_at if isinstance(resume_at := row.get("resume_at"), int) and resume_at >= number else None,
        )


def _check_references(messages: tuple[NewMessage, ...], turns: tuple[NewTurn, ...], known: set[int]) -> None:
    """Everything named is there, and a reply belongs to an attempt at the question above it."""
    for turn in turns:
        if turn.prompt not in known:
            raise Unfit(f"A turn answers message {turn.prompt}, which is not in the file.")
    questions: dict[int | None, int | None] = {None: None}
    for message in messages:
        if message.parent not in questions:
            raise Unfit(f"Message {message.number} follows one that is not in the file.")
        question = message.number if message.role == "user" else questions[message.parent]
        questions[message.number] = question
        if question is not None and turns[message.turn].prompt != question:
            raise Unfit(f"Message {message.number} belongs to a turn of another question.")


def _summaries(value: Mapping[str, Any], known: set[int], now: datetime) -> Iterator[NewSummary]:
    earlier: set[int] = set()
    for row in map(mapping, items(value.get("summaries"))):
        through, number = _number(row, "through_message"), _number(row, "id")
        if through not in known:
            raise Unfit(f"A summary reaches to message {through}, which is not in the file.")
        source = _one_of(row, "source", ("model", "user"))
        model = (text(row.get("model"))[:200] or "unknown") if source == "model" else ""
        yield NewSummary(
            number,
            through,
            text(row.get("text")),
            source,
            model,
            _known(row.get("follows"), earlier),
            _time(row, "created_at", now),
        )
        earlier.add(number)


def _known(number: Any, numbers: set[int]) -> int | None:
    return number if isinstance(number, int) and number in numbers else None


def _field(row: Mapping[str, Any], name: str, read_one: Callable[[Any], V | None]) -> V:
    found = read_one(row.get(name))
    if found is None:
        raise Unfit(f"Its field {name!r} is {str(row.get(name))[:60]!r}, which has no meaning there.")
    return found


def _time(row: Mapping[str, Any], name: str, now: datetime) -> datetime:
    return _field(row, name, lambda value: moment(value, now=now))


def _time_or_none(row: Mapping[str, Any], name: str, now: datetime) -> datetime | None:
    return None if row.get(name) is None else _time(row, name, now)


def _one_of(row: Mapping[str, Any], name: str, known: tuple[str, ...]) -> str:
    return _field(row, name, lambda value: str(value) if value in known else None)


def _number(row: Mapping[str, Any], name: str) -> int:
    return _field(row, name, lambda value: value if type(value) is int and 0 < value < 2**63 else None)


def _count(row: Mapping[str, Any], name: str) -> int:
    return _field(row, name, lambda value: value if type(value) is int and 0 <= value <= MOST else None)


def _count_or_none(row: Mapping[str, Any], name: str) -> int | None:
    return None if row.get(name) is None else _count(row, name)


def _money(row: Mapping[str, Any]) -> Decimal | None:
    def read_one(value: Any) -> Decimal | None:
        try:
            found = Decimal(text(value))
        except InvalidOperation:
            return None
        return found if found.is_finite() and 0 <= found < 1_000_000 else None

    return None if row.get("cost") is None else _field(row, "cost", read_one)
