"""What has to happen to exports and imports without anybody asking: lost ones taken up again, old ones removed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from conversations.models import Export, Import
from conversations.querysets import TransferQuerySet
from conversations.transfer import exports
from conversations.transfer import files as exported
from conversations.transfer.incoming import files as received
from conversations.transfer.incoming import imports

PATIENCE = timedelta(seconds=10)
"""One queued for longer is handed to the workers again: they had no room, or its task was lost with the queue."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Exports, or imports."""

    rows: Callable[[], TransferQuerySet]
    take_back: Callable[..., bool]
    remove: Callable[[Any], None]
    drop_strays: Callable[[], int]
    at_once: int


EXPORTS = Kind(
    lambda: Export.objects.defer("conversations"),
    exports.take_back,
    exports.remove,
    exported.drop_strays,
    exports.AT_ONCE,
)
IMPORTS = Kind(
    Import.objects.all,
    imports.take_back,
    imports.remove,
    lambda: received.drop_strays() + received.drop_left(),
    imports.AT_ONCE,
)


@dataclass(frozen=True, slots=True)
class Tended:
    """How many were taken up again, given up, removed because their time was over, and had left files behind."""

    taken_back: int
    given_up: int
    expired: int
    strays: int


def tend(kind: Kind, *, now: datetime) -> Tended:
    """Safe to run twice, and in many workers."""
    lost = [kind.take_back(one, now=now) for one in kind.rows().abandoned(now=now)]
    expired = list(kind.rows().expired(now=now))
    for one in expired:
        kind.remove(one)
    return Tended(lost.count(True), lost.count(False), len(expired), kind.drop_strays())


def due(kind: Kind, *, now: datetime) -> list[UUID]:
    """Waiting ones for which there is room, the oldest first."""
    room = max(kind.at_once - kind.rows().running().count(), 0)
    return list(kind.rows().waiting(since=now - PATIENCE).values_list("pk", flat=True)[:room])
