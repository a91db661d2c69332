"""What has to happen to imports without anybody asking: lost ones taken up again, old ones forgotten."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from conversations.models import Import
from conversations.transfer.incoming import files, imports

PATIENCE = timedelta(seconds=10)
"""One queued for longer is handed to the workers again: they had no room, or its task was lost with the queue."""


@dataclass(frozen=True, slots=True)
class Tended:
    """How many were taken up again, given up, forgotten because their time was over, and had left files behind."""

    taken_back: int
    given_up: int
    expired: int
    strays: int


def tend(*, now: datetime) -> Tended:
    """Safe to run twice, and in many workers."""
    lost = [imports.take_back(run, now=now) for run in Import.objects.abandoned(now=now)]
    expired = list(Import.objects.expired(now=now))
    for run in expired:
        imports.remove(run)
    return Tended(lost.count(True), lost.count(False), len(expired), files.drop_strays() + files.drop_left())


def due(*, now: datetime) -> list[UUID]:
    """Waiting imports for which there is room, the oldest first."""
    room = max(imports.AT_ONCE - Import.objects.running().count(), 0)
    return list(Import.objects.waiting(since=now - PATIENCE).values_list("pk", flat=True)[:room])
