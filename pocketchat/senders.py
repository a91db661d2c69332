"""Who sends a request, asked before its body is read."""

from io import BytesIO
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.core.handlers.asgi import ASGIRequest
from django.db import connections
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request


async def is_known(scope: dict[str, Any]) -> bool:
    """Whether somebody sends it who has an account: by their session, or with a token."""
    return await sync_to_async(_is_known, thread_sensitive=False)(scope)


def _is_known(scope: dict[str, Any]) -> bool:
    request = ASGIRequest(scope, BytesIO())
    try:
        if "Authorization" in request.headers:
            return TokenAuthentication().authenticate(Request(request)) is not None
        request.session = SessionStore(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
        return bool(get_user(request).is_authenticated)
    except AuthenticationFailed:
        return False
    finally:
        connections.close_all()
