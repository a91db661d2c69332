"""The web process: `uvicorn pocketchat.asgi:application`."""

import os

import django
from django.conf import settings
from django.urls import reverse

from pocketchat.gatekeeper import Gatekeeper, Uploads
from pocketchat.handler import OneThreadHandler

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pocketchat.settings")

UNPOOLED = 20
"""Requests at once where connections are not pooled."""

AROUND_A_FILE = 1_000_000
"""Bytes of a form beside the file in it."""

django.setup(set_prefix=False)

from pocketchat.senders import is_known  # noqa: E402  # reads models, which are there only now

application = Gatekeeper(
    OneThreadHandler(at_once=settings.POCKETCHAT_DATABASE_POOL or UNPOOLED),
    limit=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    api_limit=settings.POCKETCHAT_API_BODY_BYTES,
    uploads=Uploads(
        (reverse("conversations:imports"), reverse("conversations:api:imports")),
        settings.POCKETCHAT_IMPORT_BYTES + AROUND_A_FILE,
        is_known,
    ),
)
