"""The ZIP of everything: written as a stream, each file with its checksum, a list of all of them at the end."""

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from types import TracebackType
from typing import IO, Any, Self
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from conversations.transfer.as_json import dumped

MANIFEST = "manifest.json"
FORMAT = "pocketchat-export"
VERSION = 1

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""A ZIP knows no time before."""


class Archive:
    """While it is entered, files are added, one after the other; leaving it writes the manifest.

    What grows with the number of files is the ZIP's own directory, some hundred bytes each.
    """

    def __init__(self, file: IO[bytes], *, now: datetime) -> None:
        self._now = now
        self._zip = ZipFile(file, "w", ZIP_DEFLATED)
        self._listed = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  # closed on leaving
        self._files = 0
        self.counts: Counter[str] = Counter()
        """Rows in the files, by kind, as they were written."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._listed:
            if error is None:
                self._write(MANIFEST, self._manifest(), at=self._now)
                self._zip.close()
                return
        # Left to itself it would write its end when it is collected, into a file that is closed by then.
        with suppress(OSError, ValueError):
            self._zip.close()

    def add(self, name: str, pieces: Iterable[str], *, at: datetime, is_large: bool = False, **facts: Any) -> None:
        """`at`: the time the file bears. `facts` go with it into the manifest."""
        size, digest = self._write(name, pieces, at=at, is_large=is_large)
        between = ",\n" if self._files else ""
        self._listed.write(between + dumped({"name": name, **facts, "bytes": size, "sha256": digest}))
        self._files += 1

    def _write(self, name: str, pieces: Iterable[str], *, at: datetime, is_large: bool = False) -> tuple[int, str]:
        """Its size in bytes and its SHA-256."""
        size, digest = 0, hashlib.sha256()
        with self._zip.open(_entry(name, at), "w", force_zip64=is_large) as entry:
            for piece in _in_blocks(pieces):
                entry.write(piece)
                digest.update(piece)
                size += len(piece)
        return size, digest.hexdigest()

    def _manifest(self) -> Iterator[str]:
        counts = json.dumps({**dict(sorted(self.counts.items())), "files": self._files})
        yield f'{{\n"format": "{FORMAT}",\n"version": {VERSION},\n"exported_at": {dumped(self._now)},\n'
        yield f'"counts": {counts},\n"files": [\n'
        self._listed.seek(0)
        yield from self._listed
        yield "\n]\n}\n"


def _entry(name: str, at: datetime) -> ZipInfo:
    moment = max(EARLIEST, at.astimezone(UTC).timetuple()[:6])
    entry = ZipInfo(name, moment)
    entry.compress_type = ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry


def _in_blocks(pieces: Iterable[str]) -> Iterator[bytes]:
    """Small pieces together: each block passes through the checksum and the compressor once."""
    waiting: list[str] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size > 65_536:  # characters
            yield "".join(waiting).encode()
            waiting, size = [], 0
    yield "".join(waiting).encode()
