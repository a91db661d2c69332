"""Conversations a page at a time, in the order of the sidebar or of the bin; a page begins where the last one ended."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core import signing
from django.db.models import Exists, OuterRef, Q

from conversations.models import Conversation, Turn
from conversations.querysets import ConversationQuerySet


class BadCursor(ValueError):
    """We did not make it, or under another key, or for another list."""


@dataclass(frozen=True, slots=True)
class Order:
    """The newest `moment` first, behind the pinned ones where `has_pinned`; then by id."""

    name: str
    moment: str
    has_pinned: bool

    @property
    def fields(self) -> tuple[str, ...]:
        return (*(["-pinned"] if self.has_pinned else []), f"-{self.moment}", "-id")


SIDEBAR = Order("conversations", moment="last_activity_at", has_pinned=True)
BIN = Order("bin", moment="trashed_at", has_pinned=False)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a conversation stands in an order; `active` is its moment in that order."""

    pinned: bool
    active: datetime
    id: UUID

    def behind(self, order: Order = SIDEBAR) -> Q:
        """What comes after it."""
        older = Q(**{f"{order.moment}__lt": self.active}) | Q(**{order.moment: self.active, "pk__lt": self.id})
        if not order.has_pinned:
            return older
        further = Q(pinned=self.pinned) & older
        return further | Q(pinned=False) if self.pinned else further


@dataclass(frozen=True, slots=True)
class Page:
    """Conversations, each with `is_live`; `next_cursor` asks for the page after them."""

    rows: tuple[Any, ...]
    next_cursor: str | None


def page_of(
    conversations: ConversationQuerySet, *, limit: int, after: Place | None = None, order: Order = SIDEBAR
) -> Page:
    """One query, whatever the number of conversations."""
    live = Turn.objects.live().filter(conversation=OuterRef("pk"))
    found = conversations.order_by(*order.fields).annotate(is_live=Exists(live))
    rows = list((found.filter(after.behind(order)) if after else found)[: limit + 1])
    return Page(tuple(rows[:limit]), next_cursor=cursor_of(rows[limit - 1], order) if len(rows) > limit else None)


def cursor_of(row: Conversation, order: Order = SIDEBAR) -> str:
    moment: datetime = getattr(row, order.moment)
    return signing.dumps([order.has_pinned and row.pinned, moment.isoformat(), str(row.pk)], salt=order.name)


def place_of(cursor: str, order: Order = SIDEBAR) -> Place:
    """What a cursor says.

    Raises:
        BadCursor
    """
    try:
        pinned, active, pk = signing.loads(cursor, salt=order.name)
    except signing.BadSignature as error:
        raise BadCursor from error
    return Place(pinned, datetime.fromisoformat(active), UUID(pk))
