"""The list of conversations: a page of it at a time, under the headings of the calendar."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from accounts.models import User
from conversations import access
from conversations.listing import page_of, place_of
from conversations.models import Conversation, Turn

ENTRIES_A_PAGE = 50
DAYS_OF_A_WEEK = 7
PINNED = 10**15
"""More milliseconds than any date has had, few enough for a script's numbers."""


@dataclass(frozen=True)
class Entry:
    """A line of the list; lines of a higher `order` stand above those of a lower one."""

    id: UUID
    title: str
    heading: str
    order: int
    is_current: bool
    is_live: bool
    is_listed: bool


@dataclass(frozen=True)
class Sidebar:
    """A page of the list; `next_cursor` asks for the one after it."""

    groups: tuple[tuple[str, tuple[Entry, ...]], ...]
    next_cursor: str | None


def sidebar_of(user: User | AnonymousUser, *, current: UUID | None = None, after: str = "") -> Sidebar:
    """One query, whatever the number of conversations.

    Raises:
        BadCursor: `after` is none of ours.
    """
    place, now = place_of(after) if after else None, timezone.localtime()
    page = page_of(access.conversations_of(user).shown(), limit=ENTRIES_A_PAGE, after=place)
    heading_before = _heading(pinned=place.pinned, active=place.active, now=now) if place else ""
    groups = _groups(page.rows, current=current, now=now, heading_before=heading_before)
    return Sidebar(groups=groups, next_cursor=page.next_cursor)


def entry_of(conversation: Conversation, *, is_current: bool) -> Entry:
    is_live = Turn.objects.live().filter(conversation=conversation).exists()
    return _entry(conversation, now=timezone.localtime(), is_current=is_current, is_live=is_live)


def _groups(
    rows: Iterable[Any], *, current: UUID | None, now: datetime, heading_before: str
) -> tuple[tuple[str, tuple[Entry, ...]], ...]:
    """A heading that the page before ended with is not repeated."""
    entries = (_entry(row, now=now, is_current=row.pk == current, is_live=row.is_live) for row in rows)
    headed = groupby(entries, lambda entry: entry.heading)
    return tuple(("" if heading == heading_before else heading, tuple(below)) for heading, below in headed)


def _entry(row: Conversation, *, now: datetime, is_current: bool, is_live: bool) -> Entry:
    return Entry(
        row.pk,
        row.title,
        heading=_heading(pinned=row.pinned, active=row.last_activity_at, now=now),
        order=_order(pinned=row.pinned, active=row.last_activity_at),
        is_current=is_current,
        is_live=is_live,
        is_listed=not row.archived,
    )


def _order(*, pinned: bool, active: datetime) -> int:
    """As the list is sorted, in milliseconds: pinned ones stand above all that is not."""
    return int(active.timestamp() * 1000) + (PINNED if pinned else 0)


def _heading(*, pinned: bool, active: datetime, now: datetime) -> str:
    days = (now.date() - timezone.localtime(active).date()).days
    if pinned:
        return "Pinned"
    if days <= 0:
        return "Today"
    if days == 1:
        return "Yesterday"
    return "Previous 7 days" if days <= DAYS_OF_A_WEEK else "Older"
