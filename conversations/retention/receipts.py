"""Receipts as a file: to keep apart from the database, and to erase again what a backup brings back."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from conversations.models import Erasure
from conversations.retention.ids import Ids

FIELDS = (
    "id",
    "reason",
    "by",
    "part_of",
    "conversations",
    "turns",
    "accounts",
    "began_at",
    "erased_at",
    "verified_at",
    "counts",
    "left",
)


class BadReceipts(Exception):
    """The file is none of ours; the sentence says where it is wrong."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a receipt of a file names, and when its erasure began."""

    ids: Ids
    began_at: datetime


def rows_of(erasures: "QuerySet[Erasure]") -> Iterator[dict[str, Any]]:
    """Oldest first, as JSON takes them."""
    for row in erasures.order_by("pk").values(*FIELDS).iterator():
        yield {name: _plain(value) for name, value in row.items()}


def cells_of(row: dict[str, Any]) -> list[str]:
    """The same for a table: lists and counts in one cell each."""
    return [_cell(row[name]) for name in FIELDS]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return (
        [_plain(each) for each in value]
        if isinstance(value, list)
        else str(value)
        if isinstance(value, UUID)
        else value
    )


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items())
    return " ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def read(text: str) -> list[Kept]:
    """What a file of receipts names.

    Raises:
        BadReceipts
    """
    try:
        rows = json.loads(text)
    except ValueError as error:
        raise BadReceipts(f"This is no JSON: {error}.") from error
    if not isinstance(rows, list):
        raise BadReceipts("This is JSON, but no list of receipts.")
    return [_kept(row, number) for number, row in enumerate(rows, 1)]


def _kept(row: Any, number: int) -> Kept:
    try:
        return Kept(
            Ids(
                frozenset(map(UUID, row["conversations"])),
                frozenset(map(UUID, row["turns"])),
                frozenset(map(int, row["accounts"])),
            ),
            datetime.fromisoformat(row["began_at"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadReceipts(f"Receipt {number} of the file is not one of ours ({type(error).__name__}).") from error


def as_json(erasures: "QuerySet[Erasure]") -> Iterator[str]:
    """A list, a receipt a line; `read` takes it."""
    yield "["
    for number, row in enumerate(rows_of(erasures)):
        yield f"{',' if number else ''}\n{json.dumps(row)}"
    yield "\n]\n"


def as_csv(erasures: "QuerySet[Erasure]") -> Iterator[str]:
    """The first line has the names of the columns."""
    yield _line(FIELDS)
    for row in rows_of(erasures):
        yield _line(cells_of(row))


def _line(cells: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()


def naming(words: str) -> Q:
    """Receipts that name an id or a number, as somebody typed it; none for anything else."""
    words = words.strip()
    if words.isascii() and words.isdigit() and len(words) < 19:
        number = int(words)
        return Q(pk=number) | Q(by=number) | Q(accounts__contains=[number])
    try:
        one = UUID(words)
    except ValueError:
        return Q(pk__in=[])
    return Q(conversations__contains=[one]) | Q(turns__contains=[one])
