"""Servers that outlived whoever started them, found by what they are and where they stand.

A server stands in its data folder, and only one supervisor at a time works on that folder, so one that is found there
before ours is started belongs to a supervisor that was killed.
"""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

from pocketchat.embedded.process import wait_until
from pocketchat.embedded.wheels import process_table


def end_leftovers(*, program: str, folder: Path) -> None:
    """Wait until no `program` stands in `folder`, with growing insistence."""
    for number, seconds in ((None, 1.0), (signal.SIGTERM, 1.0), (signal.SIGINT, 5.0), (signal.SIGKILL, 5.0)):
        if number is not None:
            _tell_all(number, program=program, folder=folder)
        if wait_until(lambda: not _standing_in(folder, program), seconds=seconds):
            return


def _tell_all(number: signal.Signals, *, program: str, folder: Path) -> None:
    for pid in _standing_in(folder, program):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _standing_in(folder: Path, program: str) -> list[int]:
    return [pid for pid, name, where in _processes() if name == program and where == str(folder)]


def _processes() -> Iterator[tuple[int, str, str | None]]:
    for process in process_table().process_iter(["name", "cwd"]):
        yield process.pid, process.info["name"], process.info["cwd"]
