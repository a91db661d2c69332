"""The project: settings, addresses, processes. Nothing here knows what a conversation is."""

from pocketchat.celery import app as celery_app

__all__ = ["celery_app"]
