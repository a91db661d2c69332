"""An embedder at a server that speaks OpenAI's dialect: what is sent, what comes back, what goes wrong."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from conversations.providers.embeddings_api import EndpointEmbedder
from conversations.providers.errors import ProviderError
from tests.provider import ScriptedProvider
from tests.provider.embeddings import DIMENSIONS, vector_of

TEXTS = ["one", "two and three", "four"]


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as running:
        yield running


Make = Callable[..., EndpointEmbedder]


@pytest.fixture
def embedder_at(provider: ScriptedProvider) -> Iterator[Make]:
    with ExitStack() as opened:

        def make(
            model: str = "openai:text-embedding-3-small", *, dimensions: int = 0, url: str = ""
        ) -> EndpointEmbedder:
            address = url or provider.openai_url
            made = EndpointEmbedder(model, base_url=address, key="sk-embedder", dimensions=dimensions)
            opened.callback(made.close)
            return made

        yield make


def test_vectors_come_in_the_order_of_the_texts_and_of_length_1(provider: ScriptedProvider, embedder_at: Make) -> None:
    vectors = np.array(embedder_at().embed(TEXTS, seconds=5).vectors)
    expected = np.array([vector_of(text) for text in TEXTS])
    assert vectors.shape == (3, DIMENSIONS)
    assert vectors == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True))


def test_the_key_the_model_and_the_texts_are_sent(provider: ScriptedProvider, embedder_at: Make) -> None:
    embedder_at(dimensions=32).embed(TEXTS, seconds=5)
    assert provider.embeddings.requests == [{"model": "text-embedding-3-small", "input": TEXTS, "dimensions": 32}]
    assert provider.embeddings.keys == ["Bearer sk-embedder"]


def test_tokens_are_the_providers_and_dollars_from_the_price_list(
    provider: ScriptedProvider, embedder_at: Make
) -> None:
    known = embedder_at().embed(TEXTS, seconds=5)
    assert (known.input_tokens, known.cost) == (5, Decimal("0.0000001"))
    assert embedder_at("openai:my-own").embed(TEXTS, seconds=5).cost is None


def test_the_name_tells_dimensions_apart(provider: ScriptedProvider, embedder_at: Make) -> None:
    names = {embedder_at(dimensions=dimensions).name for dimensions in (0, 32, 64)}
    assert len(names) == 3


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (401, {}, "bad_key"),
        (404, {}, "unknown_model"),
        (400, {}, "rejected"),
        (307, {}, "rejected"),
        (429, {}, "rate_limited"),
        (429, {"error": {"code": "insufficient_quota"}}, "quota_exceeded"),
        (500, {}, "provider_down"),
        (503, {}, "provider_down"),
    ],
)
def test_a_refusal_says_why(
    provider: ScriptedProvider, embedder_at: Make, status: int, error: dict[str, Any], code: str
) -> None:
    provider.embeddings.status, provider.embeddings.error = status, error
    with pytest.raises(ProviderError, match=f"^{code}$"):
        embedder_at().embed(TEXTS, seconds=5)


def data(*vectors: Any) -> dict[str, Any]:
    return {"data": [{"index": at, "embedding": vector} for at, vector in enumerate(vectors)]}


@pytest.mark.parametrize(
    "answer",
    [
        [],
        "words",
        {"data": None},
        data([1.0]),
        data([1.0], [1.0], [1.0], [1.0]),
        data([1.0], [1.0, 2.0], [1.0]),
        data([1.0], [0.0], [1.0]),
        data([1.0], ["many"], [1.0]),
        data([1.0], [float("nan")], [1.0]),
        data([], [], []),
        data([1.0] * 16_001, [1.0] * 16_001, [1.0] * 16_001),
        data([10**400], [1.0], [1.0]),
        {"data": [{"index": 10**400, "embedding": [10**400]}] * 3},
    ],
)
def test_an_answer_that_is_none_is_refused(provider: ScriptedProvider, embedder_at: Make, answer: Any) -> None:
    provider.embeddings.answers = answer
    with pytest.raises(ProviderError, match="garbled"):
        embedder_at().embed(TEXTS, seconds=5)


def test_dimensions_other_than_asked_for_are_refused(provider: ScriptedProvider, embedder_at: Make) -> None:
    provider.embeddings.answers = data([1.0], [1.0], [1.0])
    with pytest.raises(ProviderError, match="garbled"):
        embedder_at(dimensions=32).embed(TEXTS, seconds=5)


def test_nobody_waits_longer_than_they_said(provider: ScriptedProvider, embedder_at: Make) -> None:
    provider.embeddings.delay = 20
    began = time.monotonic()
    with pytest.raises(ProviderError, match="timed_out"):
        embedder_at().embed(TEXTS, seconds=0.2)
    assert time.monotonic() - began < 2


def test_a_server_that_is_away_is_unreachable(embedder_at: Make) -> None:
    with pytest.raises(ProviderError, match="unreachable"):
        embedder_at(url="http://127.0.0.1:9/v1").embed(TEXTS, seconds=2)


def test_an_answer_too_deep_to_be_read_is_refused(provider: ScriptedProvider, embedder_at: Make) -> None:
    provider.embeddings.raw = b"[" * 200_000
    with pytest.raises(ProviderError, match="garbled"):
        embedder_at().embed(TEXTS, seconds=5)
