"""`POST /embeddings` in OpenAI's dialect: vectors in which the same words point the same way."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from tests.provider.play import JSON_HEAD, send_json
from tests.provider.wire import Exchange

DIMENSIONS = 96
"""Of the vectors, unless others are asked for."""


@dataclass
class Embeddings:
    """What comes next is set by the test; what came is in `requests` (the bodies) and `keys`."""

    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    delay: float = 0
    """Seconds before each answer."""
    status: int = 200
    error: dict[str, Any] = field(default_factory=lambda: {"error": {"message": "It is down.", "code": None}})
    refuses: Callable[[str], bool] = lambda _text: False
    """Texts that make it refuse a whole request."""
    raw: bytes = b""
    """A body in place of any answer."""
    answers: Any = None
    """In place of a right answer."""

    async def answer(self, exchange: Exchange, body: dict[str, Any]) -> None:
        self.requests.append(body)
        self.keys.append(exchange.headers.get("authorization", ""))
        await asyncio.sleep(self.delay)
        if not isinstance(body.get("input"), list):
            await send_json(exchange, 400, {"error": {"message": "'input' is required."}})
        elif any(map(self.refuses, body["input"])):
            await send_json(exchange, 400, {"error": {"message": "An input was refused."}})
        elif self.status != 200:
            await send_json(exchange, self.status, self.error)
        elif self.raw:
            exchange.start(200, JSON_HEAD | {"content-length": str(len(self.raw))})
            await exchange.send(self.raw)
            exchange.finish()
        else:
            await send_json(exchange, 200, _embedded(body) if self.answers is None else self.answers)


def _embedded(body: dict[str, Any]) -> dict[str, Any]:
    """Not in the order of the texts and not of length 1: neither is promised."""
    texts, dimensions = body["input"], body.get("dimensions", DIMENSIONS)
    data = [
        {"object": "embedding", "index": at, "embedding": vector_of(text, dimensions)} for at, text in enumerate(texts)
    ]
    tokens = sum(len(text.split()) for text in texts)
    return {
        "object": "list",
        "data": data[::-1],
        "model": body["model"],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def vector_of(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    vector = [0.01] * dimensions
    for word in re.findall(r"\w+", text.lower()):
        vector[int.from_bytes(blake2b(word.encode(), digest_size=4).digest()) % dimensions] += 1.0
    return vector
