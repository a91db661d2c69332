"""How many requests a web process works on at once."""

import asyncio
import threading
import time

from asgiref.sync import ThreadSensitiveContext
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from pocketchat.handler import OneThreadHandler


class Slow(OneThreadHandler):
    """Counts how many it works on."""

    def __init__(self, *, at_once: int) -> None:
        super().__init__(at_once=at_once)
        self.lock = threading.Lock()
        self.working = self.most = 0
        self.order: list[str] = []

    def get_response(self, request: HttpRequest) -> HttpResponseBase:
        with self.lock:
            self.working += 1
            self.most = max(self.most, self.working)
            self.order.append(request.path)
        time.sleep(0.02)
        with self.lock:
            self.working -= 1
        return HttpResponse()


def asked(path: str) -> HttpRequest:
    request = HttpRequest()
    request.path = path
    return request


def test_requests_beyond_the_connections_wait_their_turn_without_a_thread() -> None:
    handler = Slow(at_once=2)

    async def ask(path: str) -> None:
        async with ThreadSensitiveContext():  # As each request has it.
            await handler.get_response_async(asked(path))

    async def all_at_once() -> None:
        await asyncio.gather(*(ask(str(number)) for number in range(8)))

    asyncio.run(all_at_once())
    assert handler.most <= 2
    assert sorted(handler.order[:2]) == ["0", "1"]
    assert sorted(handler.order) == [str(number) for number in range(8)]
