"""The Celery application.

Two queues, so that a reply never waits behind housekeeping: `replies` is worked by threads that share one
event loop, `background` does everything that may take its time. The clock that starts recurring tasks ticks in the
background worker when it is asked to (`--clock`).
"""

import os

from celery import Celery
from celery.signals import setup_logging
from click import Option

from pocketchat.clock import Clock

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pocketchat.settings")

app = Celery("pocketchat")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

app.user_options["worker"].add(Option(["--clock"], is_flag=True, help="Start recurring tasks from this worker."))
app.steps["worker"].add(Clock)


@setup_logging.connect
def keep_logging(**_: object) -> None:
    """Without anybody who answers this signal, Celery would add handlers of its own and log what is printed."""
