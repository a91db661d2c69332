"""The web process: `uvicorn pocketchat.asgi:application`."""

import os

from django.conf import settings
from django.core.asgi import get_asgi_application

from pocketchat.body_limit import BodyLimit

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pocketchat.settings")

application = BodyLimit(get_asgi_application(), limit=settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
