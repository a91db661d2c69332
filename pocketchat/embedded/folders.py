"""The folders under `var`, made before anything is put there, and the lock that keeps a second supervisor away."""

import fcntl
import os
import shutil
import stat
from typing import TextIO

from pocketchat.embedded.errors import CannotStart
from pocketchat.embedded.places import Places

NEEDED_MB = 60
"""For a new database cluster and its first log; a full disk stops PostgreSQL at a worse moment."""


def make_folders(places: Places) -> None:
    """Make what is missing.

    Raises:
        CannotStart: it cannot be written to, is full, or somebody else was there first.
    """
    try:
        for folder in (places.var, places.logs, places.run):
            folder.mkdir(mode=0o755 if folder == places.var else 0o700, parents=True, exist_ok=True)
        _write_something(places)
    except OSError as error:
        raise CannotStart(
            f"The folder {places.var} cannot be written to ({error.strerror}): "
            "make room or give the right, or choose another folder with POCKETCHAT_VAR."
        ) from error
    _expect_ours(places)
    free_mb = shutil.disk_usage(places.var).free // 1_000_000
    if free_mb < NEEDED_MB:
        raise CannotStart(
            f"The disk of {places.var} is full: {free_mb} MB are free and {NEEDED_MB} MB are needed. "
            "Make room, or choose another folder with POCKETCHAT_VAR."
        )


def lock(places: Places) -> TextIO:
    """Hold `var` for us as long as the returned file is open; it says who we are.

    Raises:
        CannotStart: somebody holds it.
    """
    held = places.lock.open("a+")
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        held.seek(0)
        holder = held.read().strip()
        held.close()
        raise CannotStart(f"PocketChat already runs on {places.var}{f': {holder}' if holder else ''}.") from None
    return held


def sign(held: TextIO, *, address: str) -> None:
    """Write into the lock what a second `up` shall say."""
    held.truncate(0)
    held.write(f"process {os.getpid()}, {address}")
    held.flush()


def _write_something(places: Places) -> None:
    trial = places.run / f"trial.{os.getpid()}"
    trial.write_bytes(b"x" * 4096)
    trial.unlink()


def _expect_ours(places: Places) -> None:
    """The folder of sockets may lie in the temporary folder, where anybody can make one of that name."""
    found = places.run.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise CannotStart(
            f"{places.run} belongs to another account: start PocketChat as that account, "
            "or choose another folder with POCKETCHAT_VAR."
        )
