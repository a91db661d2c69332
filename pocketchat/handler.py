"""Django under ASGI, with one thread for each request.

Middleware, views and the ORM are synchronous. Django's own handler goes from the event loop to a thread and back for
every middleware of the old kind; here a request enters its thread once and comes back with the response. What streams
is sent from the event loop as usual.
"""

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class OneThreadHandler(ASGIHandler):
    """Views are synchronous; a view that streams returns a response with an asynchronous iterator."""

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: ARG002  # Django's signature
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)
