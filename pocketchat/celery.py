"""The Celery application.

Two queues, so that a reply never waits behind housekeeping: `replies` is worked by threads that share one
event loop, `background` does everything that may take its time.
"""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pocketchat.settings")

app = Celery("pocketchat")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
