"""What is refused before Django sees it: bodies too large, and headers that Django would break on.

Django would first write a whole body to disk, then answer 400 with an empty page. What is too much is still taken in
and thrown away for a while, because most clients read an answer only when they have sent everything.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.utils.http import parse_header_parameters

from pocketchat.errors import API

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]

DRAINED = 10
"""How many times the limit is read before the client is cut off instead."""
DRAINED_AT_MOST = 1_000_000_000
"""Bytes, also of a large limit."""
PATIENCE = 60.0
"""Seconds for a body that came without its length, and for the rest of one that is refused."""


@dataclass(frozen=True, slots=True)
class Refused:
    """What is wrong, in a sentence and in a word; `facts` for programs."""

    status: HTTPStatus
    sentence: str
    code: str
    facts: Mapping[str, object]


Admits = Callable[[Scope], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Uploads:
    """Addresses that take files, which Django writes to disk before anybody asks who sends them: so that is asked here.

    A file has at most `limit` bytes, with what is written around it, and says how many.
    """

    addresses: Collection[str]
    limit: int
    admits: Admits


class Gatekeeper:
    """Wraps an ASGI application. Bodies may have `limit` bytes, those for the API `api_limit`, files as `uploads` say.

    A body that came without its length is given one: frameworks take it for none at all.
    """

    def __init__(self, application: Application, *, limit: int, api_limit: int, uploads: Uploads | None = None) -> None:
        self._application = application
        self._limit = limit
        self._api_limit = api_limit
        self._uploads = uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        limit = self._api_limit if scope["path"].startswith(API) else self._limit
        headers = dict(scope["headers"])
        if not _is_sound(headers.get(b"content-type", b"")):
            refused = Refused(HTTPStatus.BAD_REQUEST, "The Content-Type header cannot be read.", "invalid", {})
            await _answer(refused, scope, send)
        elif self._uploads and scope["method"] == "POST" and scope["path"] in self._uploads.addresses:
            await self._take_file(self._uploads, headers, scope, receive, send, usual=limit)
        elif b"transfer-encoding" in headers:
            await self._take_in(scope, receive, send, limit=limit)
        elif int(headers.get(b"content-length", 0)) > limit:
            await _refuse(scope, receive, send, limit=limit, is_whole=False)
        else:
            await self._application(scope, receive, send)

    async def _take_file(
        self,
        uploads: Uploads,
        headers: Mapping[bytes, bytes],
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        usual: int,
    ) -> None:
        length = int(headers.get(b"content-length", 0))
        if b"transfer-encoding" in headers:
            await _answer(UNMEASURED, scope, send)
        elif length > uploads.limit:
            await _refuse(scope, receive, send, limit=uploads.limit, is_whole=False)
        elif length > usual and not await uploads.admits(scope):
            await _answer(STRANGER, scope, send)
        else:
            await self._application(scope, receive, send)

    async def _take_in(self, scope: Scope, receive: Receive, send: Send, *, limit: int) -> None:
        body, is_whole = bytearray(), False
        try:
            async with asyncio.timeout(PATIENCE):
                while not is_whole and len(body) <= limit:
                    event = await receive()
                    if event["type"] != "http.request":
                        return
                    body += event["body"]
                    is_whole = not event.get("more_body")
        except TimeoutError:
            late = Refused(HTTPStatus.REQUEST_TIMEOUT, "This took too long to arrive.", "too_slow", {})
            await _answer(late, scope, send)
            return
        if len(body) > limit:
            await _refuse(scope, receive, send, limit=limit, is_whole=is_whole)
            return
        headers = [(name, value) for name, value in scope["headers"] if name != b"transfer-encoding"]
        headers.append((b"content-length", str(len(body)).encode()))
        await self._application({**scope, "headers": headers}, _after(bytes(body), receive), send)


UNMEASURED = Refused(HTTPStatus.LENGTH_REQUIRED, "Send a file with its length (Content-Length).", "length_required", {})
STRANGER = Refused(HTTPStatus.UNAUTHORIZED, "Log in before you send a file.", "not_authenticated", {})


async def _refuse(scope: Scope, receive: Receive, send: Send, *, limit: int, is_whole: bool) -> None:
    """`is_whole`: nothing more of the body is to come."""
    taken = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while not is_whole and taken < min(limit * DRAINED, DRAINED_AT_MOST):
                event = await receive()
                is_whole = event["type"] != "http.request" or not event.get("more_body")
                taken += len(event.get("body", b""))
    sentence = f"This is larger than {limit:,} bytes, which is the most that can be sent. Nothing was stored."
    facts = {"limit": limit, "unit": "bytes"}
    await _answer(Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence, "body_too_large", facts), scope, send)


async def _answer(refused: Refused, scope: Scope, send: Send) -> None:
    """JSON for a program, a sentence for a person."""
    if scope["path"].startswith(API):
        kind = b"application/json"
        content = json.dumps({"detail": refused.sentence, "code": refused.code, **refused.facts}).encode()
    else:
        kind, content = b"text/plain; charset=utf-8", refused.sentence.encode()
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(content)).encode()),
        (b"x-content-type-options", b"nosniff"),
        # Otherwise the server would go on reading for as long as anything comes.
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers, "trailers": False})
    await send({"type": "http.response.body", "body": content, "more_body": False})


def _is_sound(content_type: bytes) -> bool:
    """Whether Django can read it: a parameter in RFC 2231's form may claim any encoding."""
    try:
        parse_header_parameters(content_type.decode("latin-1"))
    except (ValueError, LookupError):
        return False
    return True


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
