"""Halves of surrogate pairs in JSON as bytes: lone ones, which other products write, become U+FFFD.

The parser would take the first half for a question mark and break on the second.
"""

import re

_LONE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""Escapes, from the left: a whole pair, a lone half, any other."""
_SUSPECT = re.compile(rb"\\u[dD][89a-fA-F]")
_OPEN = re.compile(rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?|u[0-9a-fA-F]{0,3})?\Z")
"""An escape, or a pair of them, that the next bytes may go on with."""
LONGEST = 12
"""Bytes of a pair."""


class Mended:
    """Takes a file's bytes in pieces; what it gives back, joined, has the same length, whatever the cuts."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        data = self._held + piece
        cut = _open_escape(data)
        self._held = data[cut:]
        return _mended(data[:cut])

    def close(self) -> bytes:
        held, self._held = self._held, b""
        return _mended(held)


def _mended(data: bytes) -> bytes:
    if not _SUSPECT.search(data):
        return data
    return _LONE.sub(lambda found: b"\\ufffd" if found[1] else found[0], data)


def _open_escape(data: bytes) -> int:
    """Where an escape begins that is not whole yet; the end when there is none."""
    at = max(len(data) - LONGEST, 0)
    while found := _OPEN.search(data, at):
        start = found.start()
        before = data[:start]
        if (start - len(before.rstrip(b"\\"))) % 2 == 0:
            return start
        at = start + 1  # It is the second of an escaped backslash.
    return len(data)
