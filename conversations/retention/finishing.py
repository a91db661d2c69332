"""What a worker does behind erasures: resumes those that were killed, and looks at all that are not settled."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.db import Error as DatabaseError
from django.db import transaction

from conversations.models import Erasure
from conversations.refusals import Held
from conversations.retention import closing, erase
from conversations.retention.looks import look
from conversations.retention.manifest import STORES

log = structlog.get_logger(__name__)

AT_ONCE = 100
"""Receipts looked at together: log files are read once for all of them."""
LEASE = timedelta(minutes=5)
"""A worker has so long for them; after that another one takes them."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How many receipts were looked at, and how many of them could not be verified."""

    looked_at: int
    failed: int


def finish(*, now: datetime) -> Finished:
    """Look at every erasure that is due. Safe to run in many workers at once."""
    looked_at = failed = 0
    while claimed := _claimed(now=now):
        looked_at += len(claimed)
        done = [erasure for erasure in claimed if _is_done(erasure, now=now)]
        failed += len(claimed) - len(done) + (look(done, STORES, now=now) if done else 0)
    return Finished(looked_at, failed)


def _claimed(*, now: datetime) -> list[Erasure]:
    due = Erasure.objects.filter(next_look_at__lte=now).order_by("next_look_at")
    with transaction.atomic():
        claimed = list(due.select_for_update(skip_locked=True)[:AT_ONCE])
        Erasure.objects.filter(pk__in=[erasure.pk for erasure in claimed]).update(next_look_at=now + LEASE)
    return claimed


def _is_done(erasure: Erasure, *, now: datetime) -> bool:
    """Whether all its rows are gone; one that somebody was killed over is resumed first."""
    if erasure.erased_at is not None:
        return True
    try:
        (closing.resumed if erasure.accounts else erase.resumed)(erasure, now=now)
        erasure.refresh_from_db()
    except (Held, DatabaseError) as error:
        # What is held now was not when it began, or somebody holds a row. The receipt says so, and it is tried again.
        log.warning("erasure_not_resumed", erasure=erasure.pk, error=type(error).__name__)
        Erasure.objects.filter(pk=erasure.pk).update(left={"rows": type(error).__name__})
        return False
    return True
