"""The clock of recurring tasks, as a thread of a worker: a process of its own would cost as much memory as a worker."""

import os
import signal
import threading
from typing import Any

import structlog
from celery import beat, bootsteps

log = structlog.get_logger(__name__)


class Clock(bootsteps.StartStopStep):
    """Ticks as long as the worker runs, and takes it down when it cannot tick: a restarted worker ticks again."""

    def __init__(self, worker: Any, *, clock: bool = False, **options: Any) -> None:
        self.enabled = clock
        super().__init__(worker, **options)

    def start(self, worker: Any) -> None:
        self.service = beat.Service(worker.app, scheduler_cls=worker.app.conf.beat_scheduler)
        threading.Thread(target=self._tick, name="clock", daemon=True).start()

    def stop(self, worker: Any) -> None:  # noqa: ARG002  # Celery calls it so
        self.service.stop()

    def _tick(self) -> None:
        try:
            self.service.start()
        except Exception:  # The edge of a thread: unheard, the clock would have stopped for good.
            log.exception("clock_stopped")
            os.kill(os.getpid(), signal.SIGTERM)
