"""Clients light enough to measure with: one socket, one request, the time at which each word arrived."""

import asyncio
import json
import re
import time
from dataclasses import dataclass, field
from typing import cast

WORD = re.compile(rb"word(\d+) ")
LONGEST = 20
"""Bytes that are looked for, and that two reads may have parted."""


@dataclass
class Arrival:
    """When the request was sent and when each word came, by its number; seconds of the monotonic clock."""

    sent: float
    words: dict[int, float] = field(default_factory=dict)
    ended: bool = False
    _tail: bytes = b""

    @property
    def first(self) -> float:
        return min(self.words.values()) - self.sent

    def take(self, chunk: bytes) -> None:
        now = time.monotonic()
        chunk = self._tail + chunk
        self._tail = chunk[-LONGEST:]
        for number in WORD.findall(chunk):
            self.words.setdefault(int(number), now)
        self.ended = self.ended or b"event: done" in chunk or b"[DONE]" in chunk


class Request(asyncio.Protocol):
    """Sends one, and hands on what comes, or keeps it. No streams of asyncio's: they cost more than a bare proxy."""

    def __init__(self, content: bytes, arrival: Arrival | None) -> None:
        self._content = content
        self._arrival = arrival
        self._kept: list[bytes] = []
        self._whole = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast("asyncio.Transport", transport).write(self._content)

    def data_received(self, data: bytes) -> None:
        if self._arrival:
            self._arrival.take(data)
        else:
            self._kept.append(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if exc:
            self._whole.set_exception(exc)
        else:
            self._whole.set_result(b"".join(self._kept))

    async def whole(self) -> bytes:
        """The answer with its head, or nothing when it was handed on."""
        answer: bytes = await self._whole
        return answer


async def send(
    port: int, method: str, path: str, *, token: str = "", body: object = None, arrival: Arrival | None = None
) -> bytes:
    content = b"" if body is None else json.dumps(body).encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\nContent-Length: {len(content)}\r\n"
    )
    if token:
        head += f"Authorization: Token {token}\r\n"
    request = f"{head}Content-Type: application/json\r\n\r\n".encode() + content
    loop = asyncio.get_running_loop()
    _, sent = await loop.create_connection(lambda: Request(request, arrival), "127.0.0.1", port)
    return await sent.whole()


async def through_product(port: int, token: str, conversation: str, text: str) -> Arrival:
    """Ask and watch, as the page does."""
    arrival = Arrival(sent=time.monotonic())
    path = f"/api/v1/conversations/{conversation}/turns"
    answer = await send(port, "POST", path, token=token, body={"text": text, "parent": None})
    head, _, content = answer.partition(b"\r\n\r\n")
    assert b" 201 " in head.partition(b"\r\n")[0], answer
    await send(port, "GET", f"/api/v1/turns/{json.loads(content)['id']}/events", token=token, arrival=arrival)
    return arrival


async def through_proxy(port: int, text: str) -> Arrival:
    arrival = Arrival(sent=time.monotonic())
    body = {"model": "scripted", "stream": True, "messages": [{"role": "user", "content": text}]}
    await send(port, "POST", "/", body=body, arrival=arrival)
    return arrival
