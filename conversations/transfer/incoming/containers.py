"""A file that was sent: JSON itself, or a ZIP with JSON in it. Names inside of it are keys, never paths."""

import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol, Self
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from conversations.transfer.incoming.limits import LIMITS, FileRefused, Limits
from conversations.transfer.incoming.units import Opened

END = b"PK\x05\x06"
LONG_END = b"PK\x06\x06"
LOCATOR = b"PK\x06\x07"
END_AT_MOST = 22 + 65_535
"""Bytes from the end in which a ZIP says where its list is."""
DAMAGES = (BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError, struct.error)
"""What Python raises where the parts of a ZIP contradict each other."""
DAMAGED = "This ZIP is damaged, or is only a part of one."


class Container(Protocol):
    """What was sent, as the JSON files in it; pictures by their names."""

    def documents(self) -> Iterator[Opened]: ...

    def picture(self, name: str) -> bytes | None:
        """Of the entry whose own name, without folders, begins with `name`; None: there is none, or not of a size
        that is kept."""
        ...


class Bare:
    """One JSON file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def documents(self) -> Iterator[Opened]:
        yield lambda: self._path.open("rb")

    def picture(self, name: str) -> bytes | None:  # noqa: ARG002  # there are none
        return None


class Archive:
    """A ZIP. What is unpacked is counted as it comes, whatever the ZIP says of itself."""

    def __init__(self, file: IO[bytes], limits: Limits = LIMITS) -> None:
        """Raises `FileRefused`."""
        self._limits = limits
        _check_directory(file, limits)
        try:
            self._zip = ZipFile(file)
        except DAMAGES as error:
            raise FileRefused(DAMAGED) from error
        self._left = limits.expanded_bytes
        self._pictures: dict[str, ZipInfo] = {}
        for entry in self._zip.infolist():
            if not entry.filename.lower().endswith(".json"):
                self._pictures.setdefault(_stem(entry.filename), entry)

    def documents(self) -> Iterator[Opened]:
        """In order of their names, which is that of parts of one list."""
        for entry in sorted(self._zip.infolist(), key=lambda entry: entry.filename):
            if entry.filename.lower().endswith(".json"):
                yield lambda entry=entry: self._opened(entry)  # type: ignore[misc]  # bound now, not at its call

    def picture(self, name: str) -> bytes | None:
        entry = self._pictures.get(_stem(name))
        if entry is None or not 0 < entry.file_size <= self._limits.picture_bytes:
            return None
        with suppress(FileRefused), self._opened(entry) as file:
            data = file.read(self._limits.picture_bytes + 1)
            return data if len(data) <= self._limits.picture_bytes else None
        return None

    def spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise FileRefused(f"Unpacked it has more than {self._limits.expanded_bytes:,} bytes, which is the most.")

    def _opened(self, entry: ZipInfo) -> IO[bytes]:
        if entry.flag_bits & 1:
            raise FileRefused("This ZIP asks for a password. Unpack it, and send it without.")
        if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise FileRefused("This ZIP is packed in an unusual way. Unpack it, and pack it as usual.")
        try:
            file = self._zip.open(entry)
        except DAMAGES as error:
            raise FileRefused(DAMAGED) from error
        return _Unpacked(file, self, entry, self._limits)  # type: ignore[return-value]  # what is read


class _Unpacked:
    """An entry, as far as it stays within the limits."""

    def __init__(self, file: IO[bytes], archive: Archive, entry: ZipInfo, limits: Limits) -> None:
        self._file, self._archive, self._limits = file, archive, limits
        self._most = max(limits.free_bytes, limits.expansion * entry.compress_size)
        self._read = 0

    def read(self, size: int) -> bytes:
        try:
            data = self._file.read(size)
        except DAMAGES as error:
            raise FileRefused(DAMAGED) from error
        self._read += len(data)
        self._archive.spend(len(data))
        if self._read > self._most:
            raise FileRefused(
                f"A part of this ZIP unpacks to more than {self._limits.expansion} times its size, which no chat does."
            )
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def opened_container(file: IO[bytes], path: Path, limits: Limits = LIMITS) -> Container:
    """By the first bytes, whatever the name says.

    Raises:
        FileRefused: it is a ZIP that cannot be read, or that exceeds a limit.
    """
    file.seek(0)
    if file.read(2) == b"PK":
        return Archive(file, limits)
    return Bare(path)


def _stem(name: str) -> str:
    """`images/file-7bC8d-cat.png` and `file-service://file-7bC8d` are of the same file, and so are `file_0a…` ones."""
    own = name.rsplit("/", 1)[-1]
    kind, separator, rest = own[:4], own[4:5], own[5:]
    for end in ("-", ".", "_"):
        rest = rest.split(end, 1)[0]
    return kind + separator + rest if kind == "file" else own


def _check_directory(file: IO[bytes], limits: Limits) -> None:
    """How long the list of entries is, before Python reads all of it into memory.

    Raises:
        FileRefused
    """
    length = file.seek(0, 2)
    file.seek(max(length - END_AT_MOST - 20, 0))
    tail = file.read()
    at = tail.rfind(END)
    if at < 0 or len(tail) - at < 22:
        raise FileRefused(DAMAGED)
    count, size = struct.unpack("<HL", tail[at + 10 : at + 16])
    if tail[at - 20 : at - 16] == LOCATOR:
        count, size = _long_directory(file, struct.unpack("<Q", tail[at - 12 : at - 4])[0])
    if count > limits.entries or size > limits.directory_bytes:
        raise FileRefused(f"This ZIP has more than {limits.entries:,} entries, which is the most.")


def _long_directory(file: IO[bytes], at: int) -> tuple[int, int]:
    file.seek(min(at, 2**62))
    record = file.read(56)
    if len(record) < 56 or record[:4] != LONG_END:
        raise FileRefused(DAMAGED)
    count, size = struct.unpack("<QQ", record[32:48])
    return count, size
