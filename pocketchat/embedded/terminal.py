"""What the person who started us reads."""

import contextlib
import sys
import time


class Terminal:
    """Calm lines; a step says that it began, and how long it took when it is done.

    A terminal that was closed is no reason to stop in the middle of stopping.
    """

    _is_open = False
    """Whether a step has begun, so that its line waits for its end."""

    def line(self, text: str = "") -> None:
        self._break()
        _write(f"{text}\n")

    def began(self, text: str) -> None:
        self._break()
        self._is_open = True
        self._since = time.monotonic()
        _write(f"{text} … ")

    def ended(self, text: str = "ready") -> None:
        self._is_open = False
        self.line(f"{text} ({time.monotonic() - self._since:.1f} s)")

    def _break(self) -> None:
        """Leave the line of a step that was not finished."""
        if self._is_open:
            self._is_open = False
            _write("\n")


def _write(text: str) -> None:
    with contextlib.suppress(OSError):
        sys.stdout.write(text)
        sys.stdout.flush()
