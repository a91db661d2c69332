"""A provider's embeddings: they cost a reply at most a moment, a transaction nothing, and leave a trace."""

import logging
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from conversations import meaning, recollections
from conversations.models import Conversation, Embedding, ModelCall
from conversations.outlook import next_context
from conversations.providers.registry import embedder
from tests.factories import exchange
from tests.provider import ScriptedProvider

pytestmark = pytest.mark.django_db(transaction=True)

FACT = "My sister Alma moved to Lisbon in spring."
QUESTION = "Where does my sister Alma live?"


@pytest.fixture
def provider(settings: Settings) -> Iterator[ScriptedProvider]:
    """Names the embedder of this process."""
    with ScriptedProvider() as running:
        settings.POCKETCHAT_EMBEDDER = "openai:text-embedding-3-small"
        settings.POCKETCHAT_EMBEDDER_BASE_URL = running.openai_url
        settings.POCKETCHAT_CHAT_MODEL = "openai:scripted"
        settings.POCKETCHAT_HISTORY_TOKENS = 100
        embedder.cache_clear()
        meaning.forget()
        yield running
        embedder().close()  # type: ignore[attr-defined]  # it is the one of an endpoint
    embedder.cache_clear()


@pytest.fixture
def long(conversation: Conversation, provider: ScriptedProvider) -> Conversation:
    exchange(conversation, FACT, "How nice for her.")
    for number in range(60):
        exchange(conversation, f"Count to {number}, please.", "One, two, three, and so on. " * 2)
    recollections.write_all_missing(conversation.pk)
    conversation.refresh_from_db()
    provider.embeddings.requests.clear()
    ModelCall.objects.all().delete()
    return conversation


def recalled(conversation: Conversation) -> list[str]:
    found = recollections.recollections(conversation.pk, conversation.head_id, QUESTION, completes_index=True)
    return [one.turn.prompt for one in found]


def test_the_index_is_written_in_batches_each_with_its_trace(
    conversation: Conversation, provider: ScriptedProvider
) -> None:
    for number in range(40):
        exchange(conversation, f"Number {number}?")
    assert recollections.write_all_missing(conversation.pk) == 80
    assert [len(asked["input"]) for asked in provider.embeddings.requests] == [64, 16]
    assert set(Embedding.objects.values_list("embedder", flat=True)) == {"openai:text-embedding-3-small@own"}
    facts = ("conversation", "turn", "purpose", "provider", "model", "outcome")
    expected = (conversation.pk, None, "embedding", "openai", "text-embedding-3-small", "ok")
    assert list(ModelCall.objects.values_list(*facts)) == [expected] * 2
    assert all(call.input_tokens and call.cost for call in ModelCall.objects.all())


def test_a_question_is_embedded_once(long: Conversation, provider: ScriptedProvider) -> None:
    assert recalled(long)[0] == recalled(long)[0] == FACT
    assert [asked["input"] for asked in provider.embeddings.requests] == [[QUESTION]]
    assert ModelCall.objects.get().outcome == "ok"


def test_an_embedder_that_is_slow_costs_the_reply_a_moment_and_the_meaning(
    long: Conversation,
    provider: ScriptedProvider,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(meaning, "QUESTION_SECONDS", 0.2)
    provider.embeddings.delay = 20
    began = time.monotonic()
    with caplog.at_level(logging.WARNING):
        assert recalled(long)[0] == FACT  # Words still count.
    assert time.monotonic() - began < 2
    assert "question_not_embedded" in caplog.text
    assert ModelCall.objects.get().outcome == "timed_out"
    began = time.monotonic()
    assert recalled(long)[0] == FACT  # The next one does not wait at all.
    assert time.monotonic() - began < 0.2
    assert len(provider.embeddings.requests) == 1
    meaning.forget()
    provider.embeddings.delay = 0
    recalled(long)
    assert len(provider.embeddings.requests) == 2


@pytest.mark.parametrize("surface", ["api", "meter", "panel"])
def test_a_preview_waits_for_no_network_in_its_transaction_and_brings_back_the_same(
    long: Conversation,
    provider: ScriptedProvider,
    surface: str,
    page: Client,
    api: APIClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked_in_transaction = []
    embed = type(embedder()).embed

    def watched(*args: Any, **kwargs: Any) -> Any:
        asked_in_transaction.append(connection.in_atomic_block)
        return embed(*args, **kwargs)

    monkeypatch.setattr(type(embedder()), "embed", watched)
    address = f"/c/{long.pk}/"
    if surface == "api":
        found = api.get(f"/api/v1/conversations/{long.pk}/context", {"prompt": QUESTION}).json()["recalled"]
        assert found[0]["ids"] == list(long.messages.order_by("pk").values_list("pk", flat=True)[:2])
    else:
        url = {"meter": f"{address}context/meter/", "panel": f"{address}context/"}[surface]
        assert page.post(url, {"text": QUESTION}).status_code == 200
    assert asked_in_transaction == [False]
    scores = [one.score for one in next_context(long, QUESTION).record.recalled]
    meaning.forget()
    with transaction.atomic():
        by_words = [one.score for one in next_context(long, QUESTION).record.recalled]
    assert scores != by_words
    assert asked_in_transaction == [False]


def test_a_preview_is_shown_also_when_the_embedder_is_away(
    long: Conversation, provider: ScriptedProvider, api: APIClient
) -> None:
    provider.embeddings.status = 500
    answer = api.get(f"/api/v1/conversations/{long.pk}/context", {"prompt": QUESTION})
    assert answer.json()["recalled"]
    assert len(provider.embeddings.requests) == 1


def test_vectors_of_another_length_are_compared_with_none(long: Conversation, provider: ScriptedProvider) -> None:
    Embedding.objects.filter(conversation=long).update(vector=[1.0, 0.0])
    assert recalled(long)[0] == FACT


def test_a_trace_of_an_erased_conversation_is_none(conversation: Conversation, provider: ScriptedProvider) -> None:
    pk = conversation.pk
    Conversation.objects.filter(pk=pk).delete()
    assert len(meaning.of_texts(pk, ["Why?"])) == 1
    assert not ModelCall.objects.exists()
