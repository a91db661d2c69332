"""What recurring tasks did, for the administrator: counts and times, never content."""

from django.db import models
from django.db.models import F, Q

TASK_CHARACTERS = 60


class TaskRun(models.Model):
    """A run that did something. Runs that found nothing to do, or failed alike, share a row that tells of the last."""

    id = models.BigAutoField(primary_key=True)
    task = models.CharField(max_length=TASK_CHARACTERS)
    started_at = models.DateTimeField(help_text="Of the last run, where the row tells of several.")
    finished_at = models.DateTimeField()
    did = models.JSONField(default=dict, help_text="What was done, by kind: how many.")
    error = models.CharField(max_length=100, blank=True, default="", help_text="The kind of exception that ended it.")
    is_idle = models.BooleanField(default=False)
    runs = models.PositiveBigIntegerField(default=1, help_text="How many runs the row tells of.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                name="idle_runs_of_a_task_share_one_row", fields=["task"], condition=Q(is_idle=True)
            ),
            models.CheckConstraint(name="task_run_ends_after_it_began", condition=Q(finished_at__gte=F("started_at"))),
        ]
        indexes = [
            # Read by the admin: the newest first, of one task or of all.
            models.Index(F("finished_at").desc(), name="task_run_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.task} {self.id}"
