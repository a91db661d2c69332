"""Where files that were sent lie until they are read: a folder for each owner, which only the product may read."""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from django.conf import settings

from conversations.models import Import

LEFT_ALONE = 3600.0
"""Seconds after its last byte in which a file without a row may still be on its way here."""


class TooLarge(Exception):
    """More bytes than a file may have."""


def path_of(owner_id: int, import_id: UUID) -> Path:
    return Path(settings.PLACES.imports) / str(owner_id) / str(import_id)


def store(owner_id: int, import_id: UUID, pieces: Iterable[bytes], *, most: int) -> int:
    """Write what is sent as it comes; returns its size in bytes. Nothing is left of one that is not taken.

    Raises:
        TooLarge
        OSError: there is no room, or no right.
    """
    path = path_of(owner_id, import_id)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    size, is_taken = 0, False
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            for piece in pieces:
                size += len(piece)
                if size > most:
                    break
                file.write(piece)
        is_taken = size <= most
    finally:
        if not is_taken:
            drop(owner_id, import_id)  # However it ended, also by a client that went away.
    if not is_taken:
        raise TooLarge
    return size


def drop(owner_id: int, import_id: UUID) -> None:
    """The folder goes with its last file."""
    path = path_of(owner_id, import_id)
    path.unlink(missing_ok=True)
    with suppress(OSError):
        path.parent.rmdir()


def all_imports() -> Iterator[tuple[int, UUID]]:
    """Owner and import of everything that lies there, whatever the database says."""
    for path in Path(settings.PLACES.imports).glob("*/*"):
        with suppress(ValueError):
            yield int(path.parent.name), UUID(path.name)


def drop_strays() -> int:
    """Remove files that no import waits for, as when their owner is gone; returns how many."""
    found = set(all_imports())
    wanted = set(Import.objects.under_way().filter(pk__in={pk for _, pk in found}).values_list("pk", flat=True))
    strays = {one for one in found if one[1] not in wanted and not _is_young(path_of(*one))}
    for owner_id, import_id in strays:
        drop(owner_id, import_id)
    return len(strays)


def drop_left() -> int:
    """Remove what a web process that was killed had received of a file; returns how many."""
    left = [path for path in Path(settings.PLACES.uploads).glob("*") if path.is_file() and not _is_young(path)]
    for path in left:
        path.unlink(missing_ok=True)
    return len(left)


def _is_young(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime < LEFT_ALONE
    except FileNotFoundError:
        return True
