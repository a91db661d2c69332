"""When the purge ran, when it runs next, and whether it should have run by now."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core.cache import cache
from django_celery_beat.models import PeriodicTask

from conversations.models import TaskRun

TASK = "conversations.purge"
"""As the workers call it; the plan of the clock names it."""
RUN = "purge"
"""As its runs are recorded."""
GRACE = timedelta(hours=6)
"""How much later than planned a purge may end."""

PROGRESS = "purge:progress"
SECONDS_OF_SILENCE = 300
"""After which a purge that tells nothing is not called running any more."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """`plan`: None: nothing starts a purge. `next_at`: None: never."""

    plan: PeriodicTask | None
    last: TaskRun | None
    next_at: datetime | None
    is_late: bool
    progress: dict[str, int] | None

    @property
    def is_planned(self) -> bool:
        return self.plan is not None and self.plan.enabled

    @property
    def seconds(self) -> float:
        """That the last run took."""
        return (self.last.finished_at - self.last.started_at).total_seconds() if self.last else 0.0


def schedule(now: datetime) -> Schedule:
    plan = PeriodicTask.objects.filter(task=TASK).order_by("-enabled").first()
    last = TaskRun.objects.filter(task=RUN).order_by("-finished_at").first()
    is_on = plan is not None and plan.enabled
    next_at = max(now, _next_after(plan, plan.last_run_at or plan.date_changed)) if is_on else None
    return Schedule(plan, last, next_at, _is_late(plan, now) if is_on else True, cache.get(PROGRESS))


def tell_progress(did: dict[str, int]) -> None:
    """For the administrator who looks meanwhile."""
    cache.set(PROGRESS, did, timeout=SECONDS_OF_SILENCE)


def end_progress() -> None:
    cache.delete(PROGRESS)


def _is_late(plan: PeriodicTask, now: datetime) -> bool:
    """No run has come to its end since the plan wanted one. A plan that is new is no older than itself.

    The clock changes the plan with each start, so that its date says nothing any more after two of them.
    """
    ended = TaskRun.objects.filter(task=RUN, error="").order_by("-finished_at").values_list("finished_at", flat=True)
    if (last := ended.first()) is None and plan.total_run_count > 1:
        return True
    return _next_after(plan, last or plan.date_changed) + GRACE < now


def _next_after(plan: PeriodicTask, moment: datetime) -> datetime:
    """When the plan wants the first run after a moment."""
    wanted: datetime = plan.schedule.now() + plan.schedule.remaining_estimate(moment)
    return wanted
