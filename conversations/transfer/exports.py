"""The life of an export: asked for, claimed by one worker, finished or failed, kept for some days, removed."""

from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import F

from accounts.models import User
from conversations.models import Export
from conversations.pace import keeps_pace
from conversations.querysets import TransferQuerySet
from conversations.refusals import ExportUnderWay, TooManyExports
from conversations.transfer import files

LEASE = timedelta(seconds=60)
MOST_A_DAY = 6
"""Of one person."""
AT_ONCE = 2
"""Exports made at the same time, of all people: other tasks wait behind them."""
MOST_ATTEMPTS = 3
"""One that lost its workers so often will lose the next, too."""

SENTENCES = {
    "disk_full": "There was no room for the file on the server's disk. Tell your administrator, then try again.",
    "interrupted": "The server stopped several times while this was made. Try again.",
    "erased_meanwhile": "A conversation was erased for good while this was made, so it was thrown away. Try again.",
    "internal": "Something went wrong here. Try again; if it fails again, tell your administrator.",
}

STILL_THERE_SQL = """
    SELECT count(*) FROM (
        SELECT 1 FROM conversations_conversation WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE
    ) AS held
"""
"""Waits for whoever is erasing one of them at this moment, and keeps others from it until the transaction ends."""


class LeaseLost(Exception):
    """The export was deleted, or given to another worker."""


def request(user: User, *, now: datetime) -> Export:
    """A queued export of everything that `user` has.

    Raises:
        ExportUnderWay, TooManyExports
    """
    if under_way := Export.objects.under_way().filter(owner=user).first():
        raise ExportUnderWay(under_way.pk)
    if not keeps_pace(f"exports:{user.pk}", most=MOST_A_DAY, seconds=86_400):
        raise TooManyExports(MOST_A_DAY)
    try:
        with transaction.atomic():
            made: Export = Export.objects.create(owner=user, created_at=now)
    except IntegrityError:
        raise ExportUnderWay(Export.objects.under_way().get(owner=user).pk) from None
    return made


def claim(export_id: UUID, *, now: datetime) -> Export | None:
    """Take a queued export on; None: somebody else did, it is gone, or enough are being made."""
    if Export.objects.running().count() >= AT_ONCE:
        return None
    queued = Export.objects.filter(pk=export_id, status=Export.Status.QUEUED)
    facts = {"started_at": now, "lease_until": now + LEASE, "done": 0, "total": 0, "conversations": []}
    if not queued.update(status=Export.Status.RUNNING, attempts=F("attempts") + 1, **facts):
        return None
    claimed: Export = Export.objects.select_related("owner").get(pk=export_id)
    return claimed


def tell(export: Export, *, now: datetime, **facts: object) -> bool:
    """Renew the lease of a worker and keep what it says; False: the export is no longer its own."""
    return _own(export).update(lease_until=now + LEASE, **facts) == 1


def finish(export: Export, *, conversations: Collection[UUID], size: int, now: datetime) -> str:
    """Publish the file, whose `size` is in bytes. Empty when it is there; else why not, as `SENTENCES` has it.

    A conversation that was erased since it was read must not come back by way of a file.

    Raises:
        LeaseLost
    """
    with transaction.atomic():
        if not _are_there(conversations):
            return "erased_meanwhile"
        end = {"finished_at": now, "expires_at": _kept_until(now), "lease_until": None, "done": F("total")}
        if not _own(export).update(status=Export.Status.READY, size=size, **end):
            raise LeaseLost
        files.publish(export)
    return ""


def fail(export: Export, code: str, *, now: datetime) -> None:
    """End an attempt that will not be repeated; nothing is kept of its file."""
    _failed(_own(export), code, now=now)
    files.drop_attempt(export)


def take_back(export: Export, *, now: datetime) -> bool:
    """Queue an export again whose worker is lost, or fail it after too many; True: it is queued.

    A worker that has renewed its lease meanwhile goes on, and keeps its file.
    """
    lost = _own(export).filter(lease_until__lt=now)
    if export.attempts >= MOST_ATTEMPTS:
        if _failed(lost, "interrupted", now=now):
            files.drop_attempt(export)
        return False
    is_queued = lost.update(status=Export.Status.QUEUED, lease_until=None, conversations=[], done=0, total=0) == 1
    if is_queued:
        files.drop_attempt(export)
    return is_queued


def _failed(row: TransferQuerySet, code: str, *, now: datetime) -> bool:
    times = {"finished_at": now, "expires_at": _kept_until(now), "lease_until": None}
    return bool(row.update(status=Export.Status.FAILED, error_code=code, conversations=[], **times))


def remove(export: Export) -> None:
    """File and row; a worker that is making it stops within seconds."""
    Export.objects.filter(pk=export.pk).delete()
    files.drop(export.owner_id, export.pk)


def sentence_of(export: Export) -> str:
    """Why it failed; empty when it did not."""
    return SENTENCES.get(export.error_code, SENTENCES["internal"]) if export.error_code else ""


def _own(export: Export) -> TransferQuerySet:
    """The row, as long as it is that of this attempt."""
    return Export.objects.running().filter(pk=export.pk, attempts=export.attempts)


def _are_there(conversations: Collection[UUID]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(STILL_THERE_SQL, [list(conversations)])
        return bool(cursor.fetchone()[0] == len(conversations))


def _kept_until(now: datetime) -> datetime:
    return now + timedelta(days=settings.POCKETCHAT_EXPORT_DAYS)
