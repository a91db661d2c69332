"""Conversations a page at a time, in the order of the sidebar; a page begins where the last one ended."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core import signing
from django.db.models import Exists, OuterRef, Q

from conversations.models import Conversation, Turn
from conversations.querysets import ConversationQuerySet

SALT = "conversations"


class BadCursor(ValueError):
    """We did not make it, or under another key."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a conversation stands in the order: pinned first, then by activity, then by id."""

    pinned: bool
    active: datetime
    id: UUID

    def behind(self) -> Q:
        """What comes after it."""
        further = Q(pinned=self.pinned) & (
            Q(last_activity_at__lt=self.active) | Q(last_activity_at=self.active, pk__lt=self.id)
        )
        return further | Q(pinned=False) if self.pinned else further


@dataclass(frozen=True, slots=True)
class Page:
    """Conversations, each with `is_live`; `next_cursor` asks for the page after them."""

    rows: tuple[Any, ...]
    next_cursor: str | None


def page_of(conversations: ConversationQuerySet, *, limit: int, after: Place | None = None) -> Page:
    """One query, whatever the number of conversations."""
    live = Turn.objects.live().filter(conversation=OuterRef("pk"))
    found = conversations.in_sidebar_order().annotate(is_live=Exists(live))
    rows = list((found.filter(after.behind()) if after else found)[: limit + 1])
    return Page(tuple(rows[:limit]), next_cursor=cursor_of(rows[limit - 1]) if len(rows) > limit else None)


def cursor_of(row: Conversation) -> str:
    return signing.dumps([row.pinned, row.last_activity_at.isoformat(), str(row.pk)], salt=SALT)


def place_of(cursor: str) -> Place:
    """What a cursor says.

    Raises:
        BadCursor
    """
    try:
        pinned, active, pk = signing.loads(cursor, salt=SALT)
    except signing.BadSignature as error:
        raise BadCursor from error
    return Place(pinned, datetime.fromisoformat(active), UUID(pk))
