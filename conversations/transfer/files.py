"""Where the files of exports lie: a folder for each owner, which nobody but the product may read."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO
from uuid import UUID

from django.conf import settings

from conversations.models import Export


def path_of(owner_id: int, export_id: UUID) -> Path:
    """Of the finished file."""
    return Path(settings.PLACES.exports) / str(owner_id) / f"{export_id}.zip"


def begin(export: Export) -> IO[bytes]:
    """A file for this attempt alone, named as unfinished: a worker that was given up may still write its own.

    Raises:
        OSError: there is no room, or no right.
    """
    path = _unfinished(export)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    return os.fdopen(descriptor, "w+b")


def publish(export: Export) -> None:
    """Give the file of this attempt its final name; nobody ever sees half of one."""
    _unfinished(export).replace(path_of(export.owner_id, export.pk))


def drop_attempt(export: Export) -> None:
    _unfinished(export).unlink(missing_ok=True)


def drop(owner_id: int, export_id: UUID) -> None:
    """What there is of an export, finished or not; the folder goes with its last file."""
    path = path_of(owner_id, export_id)
    for found in [path, *path.parent.glob(f"{export_id}.*")]:
        found.unlink(missing_ok=True)
    with suppress(OSError):
        path.parent.rmdir()


def all_exports() -> Iterator[tuple[int, UUID]]:
    """Owner and export of everything that lies there, whatever the database says."""
    for path in Path(settings.PLACES.exports).glob("*/*"):
        with suppress(ValueError):
            yield int(path.parent.name), UUID(path.name.partition(".")[0])


def drop_strays() -> int:
    """Remove the files of exports that are no longer in the database, as when their owner is gone; returns how many.

    Files are looked for first: one that is made meanwhile is in the database before it is on the disk.
    """
    found = set(all_exports())
    known = set(Export.objects.filter(pk__in={pk for _, pk in found}).values_list("pk", flat=True))
    strays = {(owner_id, pk) for owner_id, pk in found if pk not in known}
    for owner_id, export_id in strays:
        drop(owner_id, export_id)
    return len(strays)


def _unfinished(export: Export) -> Path:
    return path_of(export.owner_id, export.pk).with_suffix(f".{export.attempts}.part")
