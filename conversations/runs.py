"""The record of recurring tasks: when they ran last and what they did."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db.models import F

from conversations.models import TaskRun

EVERY = {"sweep": timedelta(seconds=5)}
"""How often a task is meant to run."""
DAILY = timedelta(days=1)
"""Of a task that says nothing else."""
OVERDUE = 6
"""Times its interval after which a task that has not run is called late."""
KEPT = timedelta(days=30)
"""How long a run that did something is told of."""


def record(task: str, *, started_at: datetime, finished_at: datetime, did: Mapping[str, int], error: str = "") -> None:
    """Keep what a run did, by kind; one that did nothing is counted in the row of its kind. Safe in many workers."""
    times = {"started_at": started_at, "finished_at": finished_at}
    if error or any(did.values()):
        TaskRun.objects.create(task=task, did=dict(did), error=error, **times)
        TaskRun.objects.filter(task=task, is_idle=False, finished_at__lt=finished_at - KEPT).delete()
        return
    idle = TaskRun.objects.filter(task=task, is_idle=True)
    if not idle.update(runs=F("runs") + 1, **times):
        TaskRun.objects.bulk_create([TaskRun(task=task, is_idle=True, **times)], ignore_conflicts=True)


def is_on_time(task: str, last: datetime, *, now: datetime) -> bool:
    """Whether a task that ended a run at `last` need not have run again by now."""
    return now - last < EVERY.get(task, DAILY) * OVERDUE
