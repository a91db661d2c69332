"""The web process: `uvicorn pocketchat.asgi:application`."""

import os

import django
from django.conf import settings

from pocketchat.gatekeeper import Gatekeeper
from pocketchat.handler import OneThreadHandler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pocketchat.settings")

UNPOOLED = 20
"""Requests at once where connections are not pooled."""

django.setup(set_prefix=False)
application = Gatekeeper(
    OneThreadHandler(at_once=settings.POCKETCHAT_DATABASE_POOL or UNPOOLED),
    limit=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    api_limit=settings.POCKETCHAT_API_BODY_BYTES,
)
