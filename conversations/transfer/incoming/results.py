"""What became of the conversations of a file, as its owner is told: a page at a time, with titles as they are now."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from accounts.models import User
from conversations import access
from conversations.models import Import, ImportResult

PAGE = 100


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    outcome: str
    title: str
    detail: str
    conversation: UUID | None
    """Where it may be seen: not in the bin."""


@dataclass(frozen=True, slots=True)
class Page:
    rows: Sequence[Row]
    next_number: int | None
    """The page after begins behind this one."""


def page_of(run: Import, owner: User, *, after: int = 0, limit: int = PAGE) -> Page:
    """Two queries, whatever the number of conversations."""
    found = list(run.results.filter(number__gt=after).order_by("number")[: limit + 1])
    shown = found[:limit]
    ids = {one.conversation_id for one in shown if one.conversation_id}
    titles = dict(access.conversations_of(owner).filter(pk__in=ids).values_list("pk", "title"))
    rows = tuple(_row(one, titles) for one in shown)
    return Page(rows, next_number=shown[-1].number if len(found) > limit else None)


def _row(one: ImportResult, titles: dict[UUID, str]) -> Row:
    there = one.conversation_id in titles
    title = titles[one.conversation_id] if there else one.title  # type: ignore[index]  # it is in there
    return Row(one.number, one.outcome, title, one.detail, one.conversation_id if there else None)
