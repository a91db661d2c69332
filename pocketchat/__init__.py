"""The project: settings, addresses, processes. Nothing here knows what a conversation is."""

import os

# Before numpy is loaded, which pgvector does with the models. Its sums here are small: two threads that wait for each
# other take ten times as long as one, and every process would keep as many as there are cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pocketchat.celery import app as celery_app

__all__ = ["celery_app"]
