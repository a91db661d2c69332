"""The list of conversations: a page of it at a time, under the headings of the calendar."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.core import signing
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from conversations import access
from conversations.models import Conversation, Turn

if TYPE_CHECKING:
    from accounts.models import User

ENTRIES_A_PAGE = 50


@dataclass(frozen=True)
class Entry:
    """A line of the list."""

    id: UUID
    title: str
    is_current: bool
    is_live: bool


@dataclass(frozen=True)
class Sidebar:
    """A page of the list; `next_cursor` asks for the one after it."""

    groups: tuple[tuple[str, tuple[Entry, ...]], ...]
    next_cursor: str | None


def sidebar_of(user: "User | AnonymousUser", *, current: UUID | None = None, after: str = "") -> Sidebar:
    """One query, whatever the number of conversations."""
    live = Turn.objects.live().filter(conversation=OuterRef("pk"))
    found = access.conversations_of(user).shown().in_sidebar_order().annotate(is_live=Exists(live))
    place = _place(after)
    if place:
        found = found.filter(_behind(place))
    rows: list[Any] = list(found[: ENTRIES_A_PAGE + 1])
    page, now = rows[:ENTRIES_A_PAGE], timezone.localtime()
    heading_before = _heading(pinned=place[0], active=place[1], now=now) if place else ""
    return Sidebar(
        groups=_groups(page, current=current, now=now, heading_before=heading_before),
        next_cursor=_cursor(page[-1]) if len(rows) > ENTRIES_A_PAGE else None,
    )


def entry_of(conversation: Conversation, *, is_current: bool) -> Entry:
    is_live = Turn.objects.live().filter(conversation=conversation).exists()
    return Entry(conversation.pk, conversation.title, is_current=is_current, is_live=is_live)


def _groups(
    rows: Iterable[Any], *, current: UUID | None, now: datetime, heading_before: str
) -> tuple[tuple[str, tuple[Entry, ...]], ...]:
    """A heading that the page before ended with is not repeated."""
    headed = groupby(rows, lambda row: _heading(pinned=row.pinned, active=row.last_activity_at, now=now))
    return tuple(
        (
            "" if heading == heading_before else heading,
            tuple(Entry(row.pk, row.title, row.pk == current, row.is_live) for row in entries),
        )
        for heading, entries in headed
    )


def _heading(*, pinned: bool, active: datetime, now: datetime) -> str:
    days = (now.date() - timezone.localtime(active).date()).days
    if pinned:
        return "Pinned"
    if days <= 0:
        return "Today"
    if days == 1:
        return "Yesterday"
    return "Previous 7 days" if days <= timedelta(days=7).days else "Older"


Place = tuple[bool, datetime, UUID]


def _cursor(row: Conversation) -> str:
    return signing.dumps([row.pinned, row.last_activity_at.isoformat(), str(row.pk)], salt="sidebar")


def _place(cursor: str) -> Place | None:
    """Where a page begins; a cursor we did not make begins at the top."""
    try:
        pinned, active, pk = signing.loads(cursor, salt="sidebar")
    except signing.BadSignature:
        return None
    return pinned, datetime.fromisoformat(active), UUID(pk)


def _behind(place: Place) -> Q:
    pinned, active, pk = place
    same_day = Q(pinned=pinned) & (Q(last_activity_at__lt=active) | Q(last_activity_at=active, pk__lt=pk))
    return same_day | Q(pinned=False) if pinned else same_day
