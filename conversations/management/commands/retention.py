"""Retention from a terminal: what would go, the purge itself, and how purges went."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from conversations import tasks
from conversations.models import TaskRun
from conversations.retention import purge as purging
from conversations.retention import schedule
from conversations.retention.lives import lives
from conversations.retention.preview import preview
from conversations.retention.wording import sentence


class Command(BaseCommand):
    help = "Say what a purge would delete now (preview), purge (run), or how purges went (status; 1: they are late)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", choices=["preview", "run", "status"])

    def handle(self, *args: Any, what: str, **options: Any) -> None:  # noqa: ARG002  # Django's signature
        {"preview": self._preview, "run": self._run, "status": self._status}[what]()

    def _preview(self) -> None:
        for life, people in lives():
            self.stdout.write(f"{people} × {sentence(life)}")
        found = preview(timezone.now())
        for name, count in found.counts.items():
            self.stdout.write(f"{name}: {count}")
        for kind, count in found.kinds.items():
            self.stdout.write(f"over for {kind}: {count}")
        if found.oldest and found.newest:
            self.stdout.write(f"last messages: {found.oldest:%Y-%m-%d} to {found.newest:%Y-%m-%d}")

    def _run(self) -> None:
        """In this process; recorded as any other run."""
        if purging.is_running():
            raise CommandError("A purge is running already.", returncode=1)
        tasks.purge()
        self._told(TaskRun.objects.filter(task=schedule.RUN).latest("finished_at"))

    def _status(self) -> None:
        told = schedule.schedule(timezone.now())
        if told.last:
            self._told(told.last)
        self.stdout.write(f"next: {told.next_at:%Y-%m-%d %H:%M %Z}" if told.next_at else "next: never, not planned")
        if told.progress:
            self.stdout.write(f"running: {told.progress}")
        if told.is_late:
            raise CommandError("The purge is late, or not planned.", returncode=1)

    def _told(self, run: TaskRun) -> None:
        did = ", ".join(f"{count} {kind}" for kind, count in run.did.items()) or "nothing to do"
        seconds = (run.finished_at - run.started_at).total_seconds()
        self.stdout.write(f"{run.finished_at:%Y-%m-%d %H:%M %Z}, {seconds:.1f} s: {did} {run.error}".rstrip())
