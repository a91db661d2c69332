"""Lists in which many conversations are chosen together: all that are in use, the archive, the bin."""

from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from accounts.models import User
from conversations import access
from conversations.expiry import EndsAt
from conversations.listing import BIN, SIDEBAR, BadCursor, Order, page_of, place_of
from conversations.querysets import ConversationQuerySet
from conversations.retention.lives import life_of
from conversations.retention.wording import length
from conversations.views.requests import for_people_logged_in
from conversations.views.sidebar import sidebar_of

ROWS_A_PAGE = 50


@dataclass(frozen=True)
class Action:
    """What may be done with the chosen ones: a button."""

    name: str
    label: str
    icon: str
    is_dangerous: bool = False


RESTORE = Action("restore", "Restore", "undo-2")
ERASE = Action("erase", "Delete now", "trash-2", is_dangerous=True)
DELETE = Action("delete", "Delete", "trash-2", is_dangerous=True)
ARCHIVE = Action("archive", "Archive", "archive")
UNARCHIVE = Action("unarchive", "Back to the list", "archive-restore")


@dataclass(frozen=True)
class Shelf:
    """One of the lists."""

    name: str
    title: str
    about: str
    empty: str
    actions: tuple[Action, ...]
    order: Order = SIDEBAR

    @property
    def address(self) -> str:
        return reverse(f"conversations:{self.name}")

    @property
    def is_bin(self) -> bool:
        return self.order is BIN


ALL = Shelf(
    "all",
    "All conversations",
    "Choose some to archive or delete them together.",
    "You have no conversations yet. Begin one, and it is listed here.",
    (ARCHIVE, DELETE),
)
ARCHIVED = Shelf(
    "archive",
    "Archive",
    "Out of the list, and found by the search all the same.",
    "Nothing is archived. Archive a conversation by its menu, and it makes room in the list without going away.",
    (UNARCHIVE, DELETE),
)
BINNED = Shelf(
    "bin",
    "Bin",
    "What you delete stays here for {length}, seen by nobody else and found by no search. Then it is gone for good.",
    "The bin is empty. What you delete can be restored from here for {length}.",
    (RESTORE, ERASE),
    order=BIN,
)
EVERYTHING = Shelf("data", "All of your conversations", "", "", ())
"""The list and the archive together; the page it is asked about on is "Your data"."""

NO_BIN = "There is no bin: what you delete is gone for good, at once."
"""In place of the sentences about the bin, where rules leave none; what was in it on hold is still there."""

SHELVES = {shelf.name: shelf for shelf in (ALL, ARCHIVED, BINNED, EVERYTHING)}


def rows_of(request: HttpRequest, shelf: Shelf) -> ConversationQuerySet:
    """All that stands on it."""
    if shelf.is_bin:
        return access.bin_of(request.user)
    rows = access.conversations_of(request.user)
    return rows if shelf is EVERYTHING else rows.filter(archived=shelf is ARCHIVED)


def _shelf(request: HttpRequest, *, shelf: Shelf) -> HttpResponse:
    try:
        place = place_of(cursor, shelf.order) if (cursor := request.GET.get("after", "")) else None
    except BadCursor:  # Made under another key: the list begins anew.
        return redirect(shelf.address)
    rows = rows_of(request, shelf).annotate(ends_at=EndsAt())
    page = page_of(rows, limit=ROWS_A_PAGE, after=place, order=shelf.order)
    context: dict[str, Any] = {
        "shelf": shelf,
        **_told(request, shelf),
        "rows": [(row, row.ends_at if shelf.is_bin else None) for row in page.rows],
        "is_first": place is None,
        "sidebar": sidebar_of(request.user),
    }
    if page.next_cursor:
        context["more"] = f"{shelf.address}?{urlencode({'after': page.next_cursor})}"
    return render(request, "conversations/shelf.html", context)


def _told(request: HttpRequest, shelf: Shelf) -> dict[str, str]:
    if not shelf.is_bin:
        return {"about": shelf.about, "empty": shelf.empty}
    if not (in_bin := life_of(cast("User", request.user)).in_bin):
        return {"about": NO_BIN, "empty": NO_BIN}
    return {"about": shelf.about.format(length=length(in_bin)), "empty": shelf.empty.format(length=length(in_bin))}


all_conversations, archive, bin_ = (
    require_safe(for_people_logged_in(partial(_shelf, shelf=shelf))) for shelf in (ALL, ARCHIVED, BINNED)
)
