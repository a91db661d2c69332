"""Log files that lines can be taken out of while processes write to them.

A file and its rotated ones (`web.jsonl`, `web.jsonl.1`, …) are a family with one lock: whoever writes, rotates or takes
lines out holds it. Lines are taken out by putting another file in the place of the old one, which writers notice.
"""

import fcntl
import logging
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

AN_ID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
WRITTEN_AT = re.compile(rb'"timestamp": ?"([0-9T:.-]+)(?:Z|\+00:00)"')
FAMILY = re.compile(r"(.+\.jsonl)(?:\.\d+)?")


@contextmanager
def held(family: Path) -> Iterator[None]:
    """The lock of a family. Nothing may be logged while it is held."""
    with Path(f"{family}.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class FileHandler(logging.Handler):
    """Appends whole lines to a file that several processes may share, and rotates it at `max_bytes`."""

    def __init__(self, filename: str, *, max_bytes: int, files_kept: int) -> None:
        super().__init__()
        self._path = Path(filename)
        self._max_bytes = max_bytes
        self._files_kept = files_kept
        self._file: int | None = None

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record).encode(errors="backslashreplace") + b"\n"
            with held(self._path):
                self._open_current()
                assert self._file is not None
                if os.fstat(self._file).st_size + len(line) > self._max_bytes:
                    self._rotate()
                os.write(self._file, line)
        except Exception:  # noqa: BLE001  # a full disk, for instance: logging fails nothing
            self.handleError(record)

    def close(self) -> None:
        with self.lock or _nothing():
            if self._file is not None:
                os.close(self._file)
                self._file = None
        super().close()

    def _open_current(self) -> None:
        """Another file may stand in its place by now."""
        if self._file is not None:
            try:
                if os.path.samestat(os.fstat(self._file), self._path.stat()):
                    return
            except FileNotFoundError:
                pass
            os.close(self._file)
        self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def _rotate(self) -> None:
        for number in range(self._files_kept, 0, -1):
            older = self._numbered(number - 1)
            if older.exists():
                older.replace(self._numbered(number))
        self._open_current()

    def _numbered(self, number: int) -> Path:
        return Path(f"{self._path}.{number}") if number else self._path


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def families(folder: Path) -> dict[Path, list[Path]]:
    """The log files of a folder by the one that is written to."""
    found: dict[Path, list[Path]] = {}
    for path in sorted(folder.glob("*.jsonl*")):
        if member := FAMILY.fullmatch(path.name):
            found.setdefault(folder / member[1], []).append(path)
    return found


def outputs(folder: Path) -> list[Path]:
    """What processes said beside their logs, to nobody: written without a lock."""
    return sorted(folder.glob("*.out"))


def count_lines(folder: Path, names: Collection[str]) -> Counter[str]:
    """How many lines carry each of these ids."""
    wanted = {name.encode() for name in names}
    paths = [path for members in families(folder).values() for path in members]
    return sum((_lines_of(path, wanted) for path in [*paths, *outputs(folder)]), Counter[str]())


def remove_lines(folder: Path, names: Collection[str]) -> Counter[str]:
    """Take out every line that carries one of these ids; returns how many carried each."""
    wanted = {name.encode() for name in names}
    removed = Counter[str]()
    for family, members in families(folder).items():
        # Looked for first: nobody who logs waits while a file without any of them is read.
        if any(_lines_of(path, wanted) for path in members):
            with held(family):
                for path in families(folder)[family]:
                    removed += _lines_of(path, wanted)
                    _keep_lines(path, lambda line: wanted.isdisjoint(AN_ID.findall(line)))
    for path in outputs(folder):
        if found := _lines_of(path, wanted):
            removed += found
            _keep_lines(path, lambda line: wanted.isdisjoint(AN_ID.findall(line)), in_place=True)
    return removed


def age_out(folder: Path, *, before: datetime) -> int:
    """Take out every line that was written before; returns how many.

    A line without a time is as old as the one it follows.
    """
    removed = 0
    for family in families(folder):
        with held(family):
            for path in families(folder)[family]:
                removed += _age_out(path, before)
    return removed


def _age_out(path: Path, before: datetime) -> int:
    age = _Age(before)
    with path.open("rb") as lines:
        if age.is_young(next(lines, b"")):
            return 0  # In order, so all are.
    age = _Age(before)
    removed = _keep_lines(path, age.is_young)
    if path.suffix != ".jsonl" and not path.stat().st_size:
        path.unlink()
    return removed


class _Age:
    def __init__(self, before: datetime) -> None:
        self._before = before.isoformat()[:19].encode()
        self._is_young = False

    def is_young(self, line: bytes) -> bool:
        if (written := WRITTEN_AT.search(line)) is not None:
            self._is_young = written[1] >= self._before
        return self._is_young


def _lines_of(path: Path, wanted: Collection[bytes]) -> Counter[str]:
    found = Counter[str]()
    try:
        with path.open("rb") as lines:
            for line in lines:
                found.update(name.decode() for name in {*AN_ID.findall(line)} & set(wanted))
    except FileNotFoundError:  # Rotated away meanwhile.
        pass
    return found


def _keep_lines(path: Path, is_kept: Callable[[bytes], bool], *, in_place: bool = False) -> int:
    """Returns how many were not kept."""
    removed = 0
    draft = path.with_name(f".{path.name}.new")
    with path.open("rb") as lines, draft.open("wb") as kept:
        draft.chmod(0o600)
        for line in lines:
            if is_kept(line):
                kept.write(line)
            else:
                removed += 1
    if not removed:
        draft.unlink()
    elif in_place:
        with path.open("r+b") as file:
            file.write(draft.read_bytes())
            file.truncate()
        draft.unlink()
    else:
        draft.replace(path)
    return removed
