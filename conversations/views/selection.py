"""Which conversations of a list somebody chose, and what shall be done with them."""

from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest

from conversations.views.shelves import ALL, SHELVES, Shelf

MOST_CHOSEN = 1000


@dataclass(frozen=True)
class Selection:
    """`ids` are those that were named, not yet those that are there; `is_everything`: all that stand on the shelf."""

    shelf: Shelf
    action: str
    ids: tuple[UUID, ...]
    is_everything: bool
    is_confirmed: bool


def selection_of(request: HttpRequest) -> Selection:
    """A button beside one conversation says `action:id` in `one`; nonsense chooses nothing."""
    action, _, one = request.POST.get("one", "").partition(":")
    named = [one] if one else request.POST.getlist("id")[:MOST_CHOSEN]
    return Selection(
        shelf=SHELVES.get(request.POST.get("shelf", ""), ALL),
        action=action or request.POST.get("action", ""),
        ids=ids_of(named),
        is_everything="everything" in request.POST,
        is_confirmed="sure" in request.POST,
    )


def ids_of(named: list[str]) -> tuple[UUID, ...]:
    return tuple(pk for pk in map(_uuid, named) if pk)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
