"""What the person who started us reads."""

import sys
import time


class Terminal:
    """Calm lines; a step says that it began, and how long it took when it is done."""

    def line(self, text: str = "") -> None:
        print(text, flush=True)  # noqa: T201  # this is the terminal

    def began(self, text: str) -> None:
        self._since = time.monotonic()
        sys.stdout.write(f"{text} … ")
        sys.stdout.flush()

    def ended(self, text: str = "ready") -> None:
        self.line(f"{text} ({time.monotonic() - self._since:.1f} s)")
