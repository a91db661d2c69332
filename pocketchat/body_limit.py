"""How much a request may carry: what is too much is refused with the limit, and nothing of it is stored.

Django would first write the whole body to disk, then answer 400 with an empty page. What is too much is still taken
in and thrown away for a while, because most clients read an answer only when they have sent everything.
"""

import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from http import HTTPStatus
from typing import Any

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]

DRAINED = 10
"""How many times the limit is read before the client is cut off instead."""


class BodyLimit:
    """Wraps an ASGI application; bodies may have `limit` bytes.

    A body that came without its length is given one: frameworks take it for none at all.
    """

    def __init__(self, application: Application, *, limit: int) -> None:
        self._application = application
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if b"transfer-encoding" in headers:
            await self._take_in(scope, receive, send)
        elif int(headers.get(b"content-length", 0)) > self._limit:
            await self._refuse(scope, receive, send, is_whole=False)
        else:
            await self._application(scope, receive, send)

    async def _take_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, is_whole = bytearray(), False
        while not is_whole:
            event = await receive()
            if event["type"] != "http.request":
                return
            body += event["body"]
            is_whole = not event.get("more_body")
            if len(body) > self._limit:
                await self._refuse(scope, receive, send, is_whole=is_whole)
                return
        headers = [(name, value) for name, value in scope["headers"] if name != b"transfer-encoding"]
        headers.append((b"content-length", str(len(body)).encode()))
        told = {**scope, "headers": headers}
        await self._application(told, _after(bytes(body), receive), send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, *, is_whole: bool) -> None:
        """`is_whole`: nothing more of the body is to come."""
        taken = 0
        while not is_whole and taken < self._limit * DRAINED:
            event = await receive()
            is_whole = event["type"] != "http.request" or not event.get("more_body")
            taken += len(event.get("body", b""))
        kind, content = _refusal(scope["path"], self._limit)
        # Otherwise the server would go on reading for as long as anything comes.
        closing = (b"connection", b"close")
        headers = [(b"content-type", kind), (b"content-length", str(len(content)).encode()), closing]
        status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        await send({"type": "http.response.start", "status": status, "headers": headers, "trailers": False})
        await send({"type": "http.response.body", "body": content, "more_body": False})


def _after(body: bytes, receive: Receive) -> Receive:
    """The body in one piece, then whatever else comes."""
    is_told = False

    async def told() -> Message:
        nonlocal is_told
        if is_told:
            return await receive()
        is_told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return told


def _refusal(path: str, limit: int) -> tuple[bytes, bytes]:
    """Its kind and its bytes: JSON for a program, a sentence for a person."""
    sentence = f"This is larger than {limit:,} bytes, which is the most that can be sent. Nothing was stored."
    if path.startswith("/api/"):
        body = {"detail": sentence, "code": "body_too_large", "limit": limit, "unit": "bytes"}
        return b"application/json", json.dumps(body).encode()
    return b"text/plain; charset=utf-8", sentence.encode()
