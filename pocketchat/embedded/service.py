"""One process that belongs to the running product, and what may be decided about it."""

import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pocketchat.embedded.process import Command

WITHIN = 60.0
"""Seconds in which deaths are counted."""
PAUSES = (0.0, 0.5, 1.0, 2.0, 4.0)
"""Seconds before the first, second, … start in place of one that ended; one death more and there is no point."""


@dataclass(frozen=True)
class Service:
    """`command` is asked before every start, so that each start looks at what is there."""

    name: str
    title: str
    command: Callable[[], Command]
    is_ready: Callable[[], bool]
    patience: float = 30.0
    politely: signal.Signals = signal.SIGTERM
    keeps_data: bool = False
    is_heard: bool = False
    """What it writes to standard output is for the terminal."""


def recent(deaths: Sequence[float], *, now: float) -> int:
    return sum(now - death < WITHIN for death in deaths)


def pause_before_start(deaths: Sequence[float], *, now: float) -> float | None:
    """Seconds to wait after the last of `deaths`; None when it has ended too often to go on."""
    count = recent(deaths, now=now)
    return PAUSES[count - 1] if count <= len(PAUSES) else None


def how_it_ended(code: int) -> str:
    """A return code as `subprocess` gives it, in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
