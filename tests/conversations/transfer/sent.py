"""What a streamed answer brings, as a server would send it."""

import asyncio
from contextlib import aclosing
from typing import Any


def body_of(response: Any) -> bytes:
    """All of it, to the end."""
    return b"".join(asyncio.run(_taken(response.streaming_content)))


def beginning_of(response: Any) -> bytes:
    """The first piece, after which the reader leaves."""
    return b"".join(asyncio.run(_taken(response.streaming_content, pieces=1)))


async def _taken(content: Any, *, pieces: int = 0) -> list[bytes]:
    taken = []
    async with aclosing(content) as chunks:
        async for chunk in chunks:
            taken.append(chunk)
            if len(taken) == pieces:
                break
    return taken
