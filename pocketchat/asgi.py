"""The web process: `uvicorn pocketchat.asgi:application`."""

import os

from django.conf import settings
from django.core.asgi import get_asgi_application

from pocketchat.gatekeeper import Gatekeeper

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pocketchat.settings")

application = Gatekeeper(
    get_asgi_application(),
    limit=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    api_limit=settings.POCKETCHAT_API_BODY_BYTES,
)
