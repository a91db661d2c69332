"""The record of recurring tasks: when they ran last and what they did."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db.models import F

from conversations.models import TaskRun

EVERY = {
    "sweep": timedelta(seconds=5),
    "tend_imports": timedelta(minutes=1),
    "renew_index": timedelta(hours=1),
    "finish_erasures": timedelta(seconds=10),
    "tend_exports": timedelta(minutes=1),
}
"""How often a task is meant to run."""

DAILY = timedelta(days=1)
"""Of a task that says nothing else."""

OVERDUE = 6
"""Times its interval after which a task that has not run is called late."""

KEPT = timedelta(days=30)
"""How long a run that did something is told of."""


def record(task: str, *, started_at: datetime, finished_at: datetime, did: Mapping[str, int], error: str = "") -> None:
    """Keep what a run did, by kind; `failed` counts what it could not do. Safe in many workers.

    Runs that did nothing share a row, and so do those that fail alike one after another.
    """
    times = {"started_at": started_at, "finished_at": finished_at}
    if not error and not any(did.values()):
        idle = TaskRun.objects.filter(task=task, is_idle=True)
        if not idle.update(runs=F("runs") + 1, **times):
            TaskRun.objects.bulk_create([TaskRun(task=task, is_idle=True, **times)], ignore_conflicts=True)
        return
    newest = TaskRun.objects.filter(task=task).order_by("-finished_at").values("pk")[:1]
    alike = TaskRun.objects.filter(pk__in=newest, did=dict(did), error=error)
    if (error or did.get("failed")) and alike.update(runs=F("runs") + 1, **times):
        return
    TaskRun.objects.create(task=task, did=dict(did), error=error, **times)
    TaskRun.objects.filter(task=task, is_idle=False, finished_at__lt=finished_at - KEPT).delete()


def is_on_time(task: str, last: datetime, *, now: datetime) -> bool:
    """Whether a task that ended a run at `last` need not have run again by now."""
    return now - last < EVERY.get(task, DAILY) * OVERDUE
