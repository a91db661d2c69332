"""Clients light enough to measure with: one socket, one request, the time at which each word arrived."""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

WORD = re.compile(rb"word(\d+) ")


@dataclass
class Arrival:
    """When the request was sent and when each word came, by its number; seconds of the monotonic clock."""

    sent: float
    words: dict[int, float] = field(default_factory=dict)
    ended: bool = False

    @property
    def first(self) -> float:
        return min(self.words.values()) - self.sent

    def take(self, chunk: bytes) -> None:
        now = time.monotonic()
        for number in WORD.findall(chunk):
            self.words.setdefault(int(number), now)


async def send(port: int, method: str, path: str, *, token: str = "", body: object = None) -> AsyncIterator[bytes]:
    """The answer as it comes, headers first."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    content = b"" if body is None else json.dumps(body).encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\nContent-Length: {len(content)}\r\n"
    )
    if token:
        head += f"Authorization: Token {token}\r\n"
    writer.write(f"{head}Content-Type: application/json\r\n\r\n".encode() + content)
    try:
        while chunk := await reader.read(65536):
            yield chunk
    finally:
        writer.close()


async def answer_of(port: int, method: str, path: str, *, token: str, body: object) -> dict[str, object]:
    whole = b"".join([chunk async for chunk in send(port, method, path, token=token, body=body)])
    found: dict[str, object] = json.loads(whole.partition(b"\r\n\r\n")[2])
    return found


async def through_product(port: int, token: str, conversation: str, text: str) -> Arrival:
    """Ask and watch, as the page does."""
    arrival = Arrival(sent=time.monotonic())
    path = f"/api/v1/conversations/{conversation}/turns"
    turn = await answer_of(port, "POST", path, token=token, body={"text": text, "parent": None})
    async for chunk in send(port, "GET", f"/api/v1/turns/{turn['id']}/events", token=token):
        arrival.take(chunk)
        arrival.ended = arrival.ended or b"event: done" in chunk
    return arrival


async def through_proxy(port: int, text: str) -> Arrival:
    arrival = Arrival(sent=time.monotonic())
    body = {"model": "scripted", "stream": True, "messages": [{"role": "user", "content": text}]}
    async for chunk in send(port, "POST", "/", body=body):
        arrival.take(chunk)
        arrival.ended = arrival.ended or b"[DONE]" in chunk
    return arrival
