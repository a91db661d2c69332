"""The least a product could do: pass the provider's bytes on, without a framework or a client library between.

What that takes is the floor for ours.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

PROVIDER = urlsplit(os.environ.get("PROVIDER", ""))
HEAD = (
    f"POST {PROVIDER.path}/chat/completions HTTP/1.0\r\nHost: {PROVIDER.netloc}\r\n"
    "Content-Type: application/json\r\nContent-Length: "
)


async def app(
    _scope: dict[str, Any],
    receive: Callable[[], Awaitable[dict[str, Any]]],
    send: Callable[[dict[str, Any]], Awaitable[None]],
) -> None:
    """Headers and all: whoever reads it looks for words."""
    body = (await receive())["body"]
    reader, writer = await asyncio.open_connection(PROVIDER.hostname, PROVIDER.port)
    writer.write(f"{HEAD}{len(body)}\r\n\r\n".encode() + body)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    while chunk := await reader.read(65536):
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
    writer.close()
