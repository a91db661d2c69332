"""Django under ASGI, with one thread for each request until it has its response.

Middleware, views and the ORM are synchronous. Django's own handler goes from the event loop to a thread and back for
every middleware of the old kind; here a request enters its thread once and comes back with the response. What streams
is sent from the event loop as usual, and holds no thread.

No more requests are worked on at once than there are database connections; the others wait before they get a thread, in
the order in which they came. Hundreds of threads would only wait for a connection, some of them until they are refused.
"""

import asyncio

from asgiref.sync import SyncToAsync, sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.db import connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class OneThreadHandler(ASGIHandler):
    """Views are synchronous; a view that streams returns a response with an asynchronous iterator."""

    def __init__(self, *, at_once: int) -> None:
        super().__init__()
        self._free = asyncio.Semaphore(at_once)

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: ARG002  # Django's signature
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        async with self._free:
            response = await sync_to_async(self._responded, thread_sensitive=True)(request)
        if response.streaming:
            _let_go_of_thread()
        return response

    def _responded(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        connections.close_all()  # They belong to the thread, which is not needed for sending what it has made.
        return response


def _let_go_of_thread() -> None:
    """The request's thread would stay idle until the last event is sent; asgiref starts another when one is needed."""
    context = SyncToAsync.thread_sensitive_context.get(None)
    if context and (executor := SyncToAsync.context_to_thread_executor.pop(context, None)):
        executor.shutdown(wait=False)
