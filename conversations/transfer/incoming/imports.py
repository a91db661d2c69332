"""The life of an import: a file is taken, claimed by one worker, read to its end or not; told of for a month."""

import errno
from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F

from accounts.models import User
from conversations.models import Import, ImportResult
from conversations.models.import_ import FILE_NAME_CHARACTERS, SENTENCE_CHARACTERS
from conversations.pace import keeps_pace
from conversations.querysets import TransferQuerySet
from conversations.refusals import FileMissing, FileTooLarge, ImportUnderWay, NoRoom, TooManyImports
from conversations.text import line, preview
from conversations.transfer.incoming import files

LEASE = timedelta(seconds=120)
KEPT = timedelta(days=30)
"""How long its owner is told what became of a file."""
MOST_A_DAY = 50
"""Of one person; each looks at a whole file."""
AT_ONCE = 2
"""Files read at the same time, of all people: other tasks wait behind them."""
MOST_ATTEMPTS = 3
"""One that lost its workers so often will lose the next, too."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

INTERRUPTED = "The server stopped several times while this was read. What was brought in before is here; try again."
INTERNAL = "Something went wrong here. What was brought in before is here; if it fails again, tell your administrator."

COUNTS = {
    ImportResult.Outcome.IMPORTED: "imported",
    ImportResult.Outcome.DUPLICATE: "duplicates",
    ImportResult.Outcome.REFUSED: "refused",
}


class LeaseLost(Exception):
    """The import was given up, or given to another worker; or its owner is about to be gone."""


def take(
    user: User,
    pieces: Iterable[bytes],
    *,
    file_name: str,
    now: datetime,
    is_dry_run: bool = False,
    takes_instructions: bool = False,
) -> Import:
    """Store a file as it comes; a queued import of it.

    Raises:
        ImportUnderWay, TooManyImports, FileMissing, FileTooLarge, NoRoom
    """
    expect_room(user)
    if not keeps_pace(f"imports:{user.pk}", most=MOST_A_DAY, seconds=86_400):
        raise TooManyImports(MOST_A_DAY)
    pk = uuid4()
    size = _stored(user, pk, pieces)
    try:
        with transaction.atomic():
            made: Import = Import.objects.create(
                pk=pk,
                owner=user,
                file_name=shown_name(file_name),
                size=size,
                is_dry_run=is_dry_run,
                takes_instructions=takes_instructions,
                created_at=now,
            )
    except IntegrityError:
        files.drop(user.pk, pk)
        expect_room(user)
        raise
    return made


def _stored(user: User, pk: UUID, pieces: Iterable[bytes]) -> int:
    """The size in bytes."""
    try:
        size = files.store(user.pk, pk, pieces, most=settings.POCKETCHAT_IMPORT_BYTES)
    except files.TooLarge:
        raise FileTooLarge(settings.POCKETCHAT_IMPORT_BYTES) from None
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise NoRoom from error
    if not size:
        files.drop(user.pk, pk)
        raise FileMissing
    return size


def expect_room(user: User) -> None:
    """Raises `ImportUnderWay`: one at a time."""
    if under_way := Import.objects.under_way().filter(owner=user).first():
        raise ImportUnderWay(under_way.pk)


def shown_name(sent: str) -> str:
    """A file's name as its owner sees it: never used as a path, nor to tell what is in the file."""
    name = line(sent.replace("\\", "/").rsplit("/", 1)[-1])
    return preview("".join(one for one in name if one.isprintable()), FILE_NAME_CHARACTERS) if name else ""


def claim(import_id: UUID, *, now: datetime) -> Import | None:
    """Take a queued import on; None: somebody else did, it is gone, or enough are being read."""
    if Import.objects.running().count() >= AT_ONCE:
        return None
    queued = Import.objects.filter(pk=import_id, status=Import.Status.QUEUED)
    facts = {"started_at": now, "lease_until": now + LEASE}
    if not queued.update(status=Import.Status.RUNNING, attempts=F("attempts") + 1, **facts):
        return None
    claimed: Import = Import.objects.select_related("owner").get(pk=import_id)
    return claimed


def renew(run: Import, *, now: datetime) -> None:
    """Raises `LeaseLost`."""
    if not _own(run).update(lease_until=now + LEASE):
        raise LeaseLost


def hold(run: Import) -> None:
    """Keep the row, and with it the owner's account, until the transaction ends.

    Raises:
        LeaseLost
    """
    # An account that is being closed is inactive from the first step on: nothing is brought into it any more.
    if _own(run).select_for_update().filter(owner__is_active=True).first() is None:
        raise LeaseLost


def tell(run: Import, result: ImportResult, *, now: datetime) -> None:
    """Keep what became of the next conversation, with whatever was made of it: in its transaction.

    A large one may have taken longer than the lease; whoever wants to take the import back waits for the row.
    """
    result.detail = sentence(result.detail)
    result.save(force_insert=True)
    count = COUNTS[ImportResult.Outcome(result.outcome)]
    _own(run).update(seen=result.number, lease_until=now + LEASE, **{count: F(count) + 1})


def tell_source(run: Import, source: str) -> None:
    _own(run).update(source=source)


def finish(run: Import, *, now: datetime, error: str = "") -> None:
    """The end, whatever it is; the file is gone then, and so it is of one that was given up meanwhile."""
    status = Import.Status.FAILED if error else Import.Status.COMPLETE
    end = {"finished_at": now, "expires_at": now + KEPT, "lease_until": None}
    _own(run).update(status=status, error=sentence(error), **end)
    if not Import.objects.under_way().filter(pk=run.pk).exists():
        files.drop(run.owner_id, run.pk)


def take_back(run: Import, *, now: datetime) -> bool:
    """Queue an import again whose worker is lost, or fail it after too many; True: it is queued."""
    with transaction.atomic():
        # Whoever stores a conversation holds the row, and has renewed the lease when it is let go.
        if _own(run).filter(lease_until__lt=now).select_for_update().first() is None:
            return False
        if run.attempts >= MOST_ATTEMPTS:
            finish(run, now=now, error=INTERRUPTED)
            return False
        return bool(_own(run).update(status=Import.Status.QUEUED, lease_until=None) == 1)


def remove(run: Import) -> None:
    """File and row; a worker that is reading it stops within seconds. What it has brought in stays."""
    Import.objects.filter(pk=run.pk).delete()
    files.drop(run.owner_id, run.pk)


def sentence(words: str) -> str:
    return preview(words, SENTENCE_CHARACTERS) if len(words) > SENTENCE_CHARACTERS else words


def _own(run: Import) -> TransferQuerySet:
    """The row, as long as it is that of this attempt."""
    return Import.objects.running().filter(pk=run.pk, attempts=run.attempts)
