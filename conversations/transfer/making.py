"""One export, made by a worker: claimed, written while the lease holds, ended in one way whatever happens."""

import errno
import os
from typing import IO
from uuid import UUID

import structlog
from django.utils import timezone

from conversations import access
from conversations.models import Export
from conversations.transfer import everything, exports, files
from conversations.transfer.archive import Archive
from conversations.transfer.lease import Lease
from conversations.transfer.pages import weights_of

log = structlog.get_logger(__name__)

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def make(export_id: UUID) -> None:
    """Make a queued export; one that another worker has, or that is gone, is left alone."""
    export = exports.claim(export_id, now=timezone.now())
    if export is None:
        return
    try:
        code = _made(export)
    except exports.LeaseLost:
        log.info("export_not_wanted", export=str(export_id))
        files.drop_attempt(export)
        return
    except OSError as error:
        code = "disk_full" if error.errno in NO_ROOM else "internal"
        log.warning("export_failed", export=str(export_id), error=type(error).__name__, errno=error.errno)
    except (
        Exception
    ):  # the edge of the worker: without its word the export is waited for until its lease runs out thrice
        exports.fail(export, "internal", now=timezone.now())
        raise
    if code:
        exports.fail(export, code, now=timezone.now())


def _made(export: Export) -> str:
    """Empty when it is there, else why it failed."""
    with Lease(export) as lease, files.begin(export) as file:
        ids = _write(export, lease, file)
        file.flush()
        os.fsync(file.fileno())
        size = file.seek(0, os.SEEK_END)
    return exports.finish(export, conversations=ids, size=size, now=timezone.now())


def _write(export: Export, lease: Lease, file: IO[bytes]) -> list[UUID]:
    """Everything of one moment; returns the conversations that are in it."""
    now = timezone.now()
    with access.as_of_one_moment(), Archive(file, now=now) as archive:
        # Asked for once: what a rule ends a second later is in both, or in neither.
        found = access.conversations_of(export.owner)
        weights = weights_of(found)
        ids = [weight.id for weight in weights]
        # Before a word is read: whoever erases one of them from here on finds this export.
        lease.tell(conversations=ids, total=sum(weight.messages for weight in weights))
        everything.write(archive, export.owner, found, weights, now=now, wrote=lease.advance)
    return ids
