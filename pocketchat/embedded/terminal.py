"""What the person who started us reads."""

import time


class Terminal:
    """Calm lines; a step says that it began, and how long it took when it is done."""

    _is_open = False
    """Whether a step has begun, so that its line waits for its end."""

    def line(self, text: str = "") -> None:
        self._break()
        print(text, flush=True)  # noqa: T201  # this is the terminal

    def began(self, text: str) -> None:
        self._break()
        self._is_open = True
        self._since = time.monotonic()
        print(f"{text} … ", end="", flush=True)  # noqa: T201

    def ended(self, text: str = "ready") -> None:
        self._is_open = False
        self.line(f"{text} ({time.monotonic() - self._since:.1f} s)")

    def _break(self) -> None:
        """Leave the line of a step that was not finished."""
        if self._is_open:
            self._is_open = False
            print()  # noqa: T201
