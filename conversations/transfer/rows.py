"""Rows as they are taken away: what of each table goes into an export, under which name, and in which order.

JSON that the database holds is carried as the text it is: parsed and written again, a number could lose digits.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import F, Model, QuerySet, TextField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast

from conversations.models import Conversation, Message, Summary, Turn

ROWS_AT_ONCE = 500
"""Read from the database in one go."""

JsonText = str


class TurnRow(NamedTuple):
    conversation: UUID
    id: UUID
    prompt: int
    status: str
    model: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    stop_requested_at: datetime | None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost: Decimal | None
    error_code: str
    was_cut_off: bool
    context: JsonText | None


class MessageRow(NamedTuple):
    conversation: UUID
    id: int
    turn: UUID
    parent: int | None
    resume_at: int | None
    role: str
    content: JsonText
    tokens: int
    tokens_source: str
    created_at: datetime


class SummaryRow(NamedTuple):
    conversation: UUID
    id: int
    through_message: int
    text: str
    tokens: int
    source: str
    model: str
    follows: int | None
    created_at: datetime


Row = TurnRow | MessageRow | SummaryRow

CONVERSATION = (
    "id",
    "title",
    "title_source",
    "system_prompt",
    "model",
    "head",
    "created_at",
    "last_activity_at",
    "pinned",
    "archived",
    "temporary",
    "kept",
    "summarises",
)
"""Fields of a conversation that are taken away."""

LEFT_OUT: dict[type[Model], dict[str, str]] = {
    Conversation: {
        "owner": "An export is its owner's; to whom it is given is their business.",
        "request_key": "Names a request to this installation, so that its repetition is known.",
        "request_digest": "Names what that request asked for.",
        "trashed_at": "What is in the bin is not exported.",
    },
    Turn: {
        "request_key": "Names a request to this installation, so that its repetition is known.",
        "lease_until": "Until when a worker holds it: of no meaning elsewhere.",
    },
    Message: {},
    Summary: {},
}
"""Fields that are not, and why."""


def turns(found: QuerySet[Turn], *, with_context: bool = True) -> Iterator[TurnRow]:
    """In order of time within each conversation; without the record of what was sent where that is not wanted."""
    blank = {} if with_context else {"context": Value(None, output_field=TextField())}
    ordered = found.order_by("conversation_id", "created_at", "id")
    return map(TurnRow._make, _read(ordered, TurnRow, raw="context", instead=blank))


def messages(found: QuerySet[Message]) -> Iterator[MessageRow]:
    """In the order in which they were written, which is that of their ids."""
    return map(MessageRow._make, _read(found.order_by("conversation_id", "id"), MessageRow, raw="content"))


def summaries(found: QuerySet[Summary]) -> Iterator[SummaryRow]:
    """Each version behind those it was written from."""
    return map(SummaryRow._make, _read(found.order_by("conversation_id", "id"), SummaryRow))


def _read(
    found: QuerySet[Any], row: type[Row], *, raw: str = "", instead: Mapping[str, Combinable] | None = None
) -> Iterator[Any]:
    """Values in the order of the row's fields, through a cursor of the server's: never all of them at once."""
    stored: dict[str, Combinable] = {raw: Cast(raw, TextField())} if raw else {}
    columns = {**stored, **(instead or {})}
    return found.values_list(*(columns.get(name, F(name)) for name in row._fields)).iterator(chunk_size=ROWS_AT_ONCE)
