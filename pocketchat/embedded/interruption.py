"""Being asked to stop, at a moment of our choosing."""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruption:
    """Turns the first of Ctrl-C, SIGTERM and SIGHUP into a KeyboardInterrupt and ignores the rest.

    It is held back while a child is being started: a child nobody has noted yet would not be stopped either.
    """

    def __init__(self) -> None:
        self._is_over = self._is_held = self._is_waiting = False
        for number in SIGNALS:
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # Ignored means nohup.
                signal.signal(number, self._asked)

    def ignore(self) -> None:
        """From now on we are stopping anyway."""
        self._is_over = True

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
        if self._is_waiting:
            self._interrupt()

    def _asked(self, _number: int, _frame: FrameType | None) -> None:
        if self._is_held:
            self._is_waiting = True
        else:
            self._interrupt()

    def _interrupt(self) -> None:
        if not self._is_over:
            self._is_over = True
            raise KeyboardInterrupt
