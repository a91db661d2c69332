"""What has to happen to exports without anybody asking: lost ones taken up again, old ones removed."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from conversations.models import Export
from conversations.transfer import exports, files

PATIENCE = timedelta(seconds=10)
"""An export queued for longer is handed to the workers again: they had no room, or its task was lost with the queue."""


@dataclass(frozen=True, slots=True)
class Tended:
    """How many were taken up again, given up, removed because their time was over, and had left files behind."""

    taken_back: int
    given_up: int
    expired: int
    strays: int


def tend(*, now: datetime) -> Tended:
    """Safe to run twice, and in many workers."""
    lost = [exports.take_back(export, now=now) for export in Export.objects.abandoned(now=now)]
    expired = list(Export.objects.expired(now=now).defer("conversations"))
    for export in expired:
        exports.remove(export)
    strays = files.drop_strays()
    return Tended(lost.count(True), lost.count(False), len(expired), strays)


def due(*, now: datetime) -> list[UUID]:
    """Waiting exports for which there is room, the oldest first."""
    room = max(exports.AT_ONCE - Export.objects.running().count(), 0)
    return list(Export.objects.waiting(since=now - PATIENCE).values_list("pk", flat=True)[:room])
