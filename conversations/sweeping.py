"""What lost workers and a lost queue left behind: turns nobody answers any more are ended, or queued again.

No transaction waits for a network: between them the sweep asks what viewers have seen.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from conversations import turns
from conversations.database import AWAY
from conversations.models import Turn
from conversations.streams import Shown

log = structlog.get_logger(__name__)

REQUEUE_AFTER = timedelta(seconds=10)
"""A turn queued for longer is handed to the queue again: its task may have been lost with Redis."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep found: turns it ended, turns that should be handed to the queue again, how many it could not end."""

    interrupted: list[Turn]
    waiting: list[UUID]
    failed: int = 0


def sweep(*, now: datetime, shown: Callable[[UUID], Shown] = lambda _: Shown()) -> Swept:
    """End the turns whose worker is gone. Safe to run in many workers at once: each turn is ended by one of them.

    `shown` says what viewers of a turn have seen: what goes beyond the last save is kept with the end, in one
    transaction, for the next attempt may begin as soon as the turn has ended.
    """
    interrupted, failed = [], 0
    for turn in Turn.objects.abandoned(now=now):
        try:
            if _interrupt(turn, shown, now=now):
                interrupted.append(turn)
        except Exception as error:  # noqa: BLE001  # whatever is wrong with one turn, those behind it must end
            failed += 1
            log.warning("turn_not_ended", turn=str(turn.pk), error=type(error).__name__)
    waiting = list(Turn.objects.waiting(since=now - REQUEUE_AFTER).values_list("pk", flat=True))
    return Swept(interrupted=interrupted, waiting=waiting, failed=failed)


def _interrupt(turn: Turn, shown: Callable[[UUID], Shown], *, now: datetime) -> bool:
    """False: somebody else ended it first, or renewed it."""
    end = functools.partial(turns.end_for_worker, turn, Turn.Status.INTERRUPTED, now=now, abandoned_at=now)
    try:
        return end(seen=shown(turn.pk))
    except AWAY:
        raise
    except Exception as error:  # noqa: BLE001  # events that cannot be read or kept must not hold the conversation for ever
        log.warning("seen_not_kept", turn=str(turn.pk), error=type(error).__name__)
        return end(seen=Shown())
