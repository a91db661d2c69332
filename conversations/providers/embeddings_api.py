"""Embeddings of a provider that speaks OpenAI's dialect: `POST {base_url}/embeddings`.

One request is a few lines of HTTP. pydantic-ai's embedding models would take 110 MB of every process that recalls,
web processes among them, which load no SDK otherwise.
"""

import json
import time
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
from genai_prices import Usage, calc_price
from httpx2 import Client, HTTPError, Limits, Response, TimeoutException

from conversations.providers.errors import ProviderError
from conversations.providers.values import MOST_DOLLARS, MOST_TOKENS, Embedded

MOST_DIMENSIONS = 16_000
"""What the database's half precision vectors hold."""

MOST_BYTES = 64 * 2**20
"""Of an answer."""

CODES = {401: "bad_key", 403: "bad_key", 404: "unknown_model", 408: "timed_out", 413: "rejected", 429: "rate_limited"}


class EndpointEmbedder:
    """A model of an OpenAI-compatible server; exactly one attempt a request."""

    is_remote = True

    def __init__(self, model: str, *, base_url: str, key: str, dimensions: int = 0) -> None:
        """`model` is `provider:name`; `dimensions` are asked for, 0 leaves them to the model."""
        self.name = f"{model}@{dimensions or 'own'}"
        self._provider, _, self._model = model.partition(":")
        self._dimensions = dimensions
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._client = Client(headers={"Authorization": f"Bearer {key}"}, limits=Limits(max_connections=8))

    def embed(self, texts: Sequence[str], *, seconds: float) -> Embedded:
        """See `Embedder.embed`."""
        asked: dict[str, Any] = {"model": self._model, "input": list(texts)}
        if self._dimensions:
            asked["dimensions"] = self._dimensions
        try:
            answer = json.loads(self._answer(asked, seconds=seconds))
            vectors = _vectors(answer["data"], count=len(texts))
            tokens = _tokens(answer)
        except TimeoutException as error:
            raise ProviderError("timed_out") from error
        except HTTPError as error:
            raise ProviderError("unreachable") from error
        # Too deep, or a number too large, for Python.
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
            raise ProviderError("garbled") from error
        if self._dimensions and vectors.shape[1] != self._dimensions:
            raise ProviderError("garbled")
        return Embedded(vectors.tolist(), tokens, self._cost(tokens))

    def close(self) -> None:
        self._client.close()

    def _answer(self, asked: dict[str, Any], *, seconds: float) -> bytes:
        """The body of the answer, whole within so many seconds: each wait for a piece has its own limit."""
        until = time.monotonic() + seconds
        with self._client.stream("POST", self._url, json=asked, timeout=seconds) as response:
            body = bytearray()
            for piece in response.iter_bytes():
                body += piece
                if time.monotonic() > until:
                    raise ProviderError("timed_out")
                if len(body) > MOST_BYTES:
                    raise ProviderError("garbled")
        if response.status_code != 200:
            raise ProviderError(_code(response, bytes(body)))
        return bytes(body)

    def _cost(self, tokens: int | None) -> Decimal | None:
        """None: unknown, because the price or the tokens are."""
        try:
            price = calc_price(Usage(input_tokens=tokens), self._model, provider_id=self._provider) if tokens else None
        except (LookupError, ValueError):
            return None
        return price.total_price if price and price.total_price < MOST_DOLLARS else None


def _vectors(data: Any, *, count: int) -> npt.NDArray[np.float64]:
    """In the order of the texts, of length 1; whatever they are in the answer."""
    ordered = [one["embedding"] for one in sorted(data, key=lambda one: one.get("index", 0))]
    vectors = np.array(ordered, dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != count or not 0 < vectors.shape[1] <= MOST_DIMENSIONS:
        raise ValueError
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise ValueError
    unit: npt.NDArray[np.float64] = vectors / lengths
    return unit


def _tokens(answer: Any) -> int | None:
    counted = (answer.get("usage") or {}).get("prompt_tokens")
    return counted if isinstance(counted, int) and 0 < counted <= MOST_TOKENS else None


def _code(response: Response, body: bytes) -> str:
    if response.status_code >= 500:
        return "provider_down"
    if response.status_code == 429 and b"insufficient_quota" in body:
        return "quota_exceeded"
    return CODES.get(response.status_code, "rejected")
