"""The web process: `uvicorn pocketchat.asgi:application`."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pocketchat.settings")

application = get_asgi_application()
