"""A conversation as JSON, with nothing lost: all branches, all turns, what each request contained.

The form is that of `schemas/conversation-1.json`. A row a line, so that a large file can be read with small tools.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from conversations.models import Conversation
from conversations.transfer.content import Content
from conversations.transfer.rows import CONVERSATION, Row

FORMAT = "pocketchat-conversation"
VERSION = 1
"""Grows when files of before could not be read by the same rules; see the schema."""

RAW = ("content", "context")
"""Fields that hold JSON already."""


def written(content: Content, *, now: datetime, counted: Counter[str] | None = None) -> Iterator[str]:
    """The document in pieces; `now` is when it was exported. `counted` takes how many rows of each kind it has."""
    counted = Counter() if counted is None else counted
    yield f'{{\n"format": "{FORMAT}",\n"version": {VERSION},\n"exported_at": {dumped(now)},\n'
    yield f'"conversation": {dumped(conversation_fields(content.conversation))}'
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "turns": content.turns,
        "messages": content.messages,
        "summaries": content.summaries,
    }
    for name, rows in parts.items():
        yield f',\n"{name}": ['
        yield from _listed(rows(), counted, name)
        yield "]"
    yield "\n}\n"


def conversation_fields(conversation: Conversation) -> dict[str, Any]:
    found = {name: getattr(conversation, name) for name in CONVERSATION if name != "head"}
    return {**found, "head": conversation.head_id}


def dumped(value: Any) -> str:
    """As JSON; the only texts that UTF-8 cannot write, halves of pairs, are in no database."""
    return _encoder.encode(value)


def _listed(rows: Iterable[Row], counted: Counter[str], name: str) -> Iterator[str]:
    between = "\n"
    for row in rows:
        yield between + _line(row)
        between = ",\n"
        counted[name] += 1
    if between != "\n":
        yield "\n"


def _line(row: Row) -> str:
    fields = row._asdict()
    del fields["conversation"]
    raw = "".join(f', "{name}": {fields.pop(name) or "null"}' for name in RAW if name in fields)
    return dumped(fields)[:-1] + raw + "}"


def _plain(value: Any) -> str:
    """Times in UTC, amounts of money digit by digit."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(type(value).__name__)


_encoder = json.JSONEncoder(default=_plain, ensure_ascii=False)
