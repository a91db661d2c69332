"""A provider's embeddings: they cost a reply at most a moment, a transaction nothing, and leave a trace."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from io import StringIO
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import User
from conversations import index, meaning, pace, recollections
from conversations.database import in_thread
from conversations.memory import ConversationMemory
from conversations.models import Conversation, Embedding, Message, ModelCall, Turn
from conversations.outlook import next_context
from conversations.providers.errors import ProviderError
from conversations.providers.registry import chat_model_info, embedder
from conversations.providers.values import ChatEvent, ChatRequest, Embedded, Finished, TextDelta
from conversations.replies.draft import Draft
from conversations.replies.rounds import Rounds
from conversations.streams import Publisher, Wire
from tests.factories import ask, exchange, make_conversation
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


@pytest.mark.parametrize("surface", ["api", "panel"])
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
    if surface == "api":
        found = api.get(f"/api/v1/conversations/{long.pk}/context", {"prompt": QUESTION}).json()["recalled"]
        assert found[0]["ids"] == list(long.messages.order_by("pk").values_list("pk", flat=True)[:2])
    else:
        assert page.post(f"/c/{long.pk}/context/", {"text": QUESTION}).status_code == 200
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


def test_a_person_who_looks_ahead_too_often_is_shown_what_is_found_by_words(
    long: Conversation,
    owner: User,
    stranger: User,
    provider: ScriptedProvider,
    page: Client,
    api: APIClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pace, "MOST_RECALLS", 2)
    cache.clear()
    for number in range(3):
        assert FACT in page.post(f"/c/{long.pk}/context/", {"text": f"{QUESTION} {number}"}).content.decode()
    for question in (f"{QUESTION} 0", f"{QUESTION} 3"):
        answer = api.post(f"/api/v1/conversations/{long.pk}/context", {"prompt": question}, format="json")
        assert answer.json()["recalled"]
    assert [asked["input"] for asked in provider.embeddings.requests] == [[f"{QUESTION} 0"], [f"{QUESTION} 1"]]
    assert api.get(f"/api/v1/conversations/{long.pk}/recall", {"q": QUESTION}).status_code == 429
    assert pace.may_recall(stranger)
    cache.clear()


def test_vectors_of_another_length_are_compared_with_none(long: Conversation, provider: ScriptedProvider) -> None:
    Embedding.objects.filter(conversation=long).update(vector=[1.0, 0.0])
    assert recalled(long)[0] == FACT


def test_a_trace_of_an_erased_conversation_is_none(conversation: Conversation, provider: ScriptedProvider) -> None:
    pk = conversation.pk
    Conversation.objects.filter(pk=pk).delete()
    assert len(meaning.of_texts(pk, ["Why?"])) == 1
    assert not ModelCall.objects.exists()


def test_what_is_typed_and_not_sent_is_not_told_to_a_provider(
    long: Conversation, provider: ScriptedProvider, page: Client
) -> None:
    for draft in ("Where", "Where does", QUESTION):
        for panel in ({}, {"panel": "open"}):
            answer = page.post(f"/c/{long.pk}/context/meter/", {"text": draft, **panel})
            assert answer.status_code == 200
    assert not provider.embeddings.requests
    assert not ModelCall.objects.exists()
    assert FACT in page.post(f"/c/{long.pk}/context/meter/", {"text": QUESTION, "panel": "open"}).content.decode()
    page.post(f"/c/{long.pk}/context/", {"text": QUESTION})  # The panel is opened on purpose,
    page.post(f"/c/{long.pk}/context/meter/", {"text": QUESTION})  # and what it learned is at hand.
    assert [asked["input"] for asked in provider.embeddings.requests] == [[QUESTION]]


class Echo:
    """A model of a programmer's own, which answers at once."""

    info, takes_tools = chat_model_info("own:echo"), False

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent, None]:
        yield TextDelta("Yes.")
        yield Finished(None, None, None, None, was_cut_off=False)


def test_waiting_for_an_embedder_holds_up_no_other_reply(
    long: Conversation, owner: User, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index lacks something, and the question's meaning is not known: both are waited for."""
    monkeypatch.setattr(meaning, "QUESTION_SECONDS", 2.0)
    provider.embeddings.delay = 1.5
    turns = [_asked_in_a_copy(long, owner, f"{QUESTION} {number}") for number in range(6)]
    provider.embeddings.requests.clear()

    async def reply(turn: Turn) -> str:
        draft, wire = Draft(), Wire()
        publisher = Publisher(wire, turn.pk)
        await Rounds(turn, draft, publisher).run(Echo(), {})
        await publisher.close(None)
        await wire._redis.aclose()
        return draft.current.text

    async def replies_and_saves() -> tuple[list[str], float]:
        replies = [asyncio.create_task(reply(turn)) for turn in turns]
        while len(provider.embeddings.requests) < 4:  # noqa: ASYNC110  # it counts in a thread of its own
            await asyncio.sleep(0.02)
        began = time.monotonic()
        await asyncio.gather(*(in_thread(Turn.objects.count) for _ in range(4)))
        took = time.monotonic() - began
        return await asyncio.gather(*replies), took

    answers, took = asyncio.run(asyncio.wait_for(replies_and_saves(), 60))
    assert answers == ["Yes."] * 6
    assert took < 1


def _asked_in_a_copy(long: Conversation, owner: User, question: str) -> Turn:
    copy = make_conversation(owner)
    said = [(row.role, row.text) for row in long.messages.order_by("pk")[:40]]
    ConversationMemory.open(conversation_id=copy.pk).add_all(said)
    turn = ask(copy, question)
    turn.refresh_from_db()
    return turn


REFUSED = "Something no provider wants to read."


def test_a_message_that_the_embedder_refuses_keeps_no_other_out(
    conversation: Conversation, provider: ScriptedProvider
) -> None:
    exchange(conversation, FACT)
    exchange(conversation, REFUSED)
    exchange(conversation, "x" * 1500, "y" * 1500)
    for number in range(40):
        exchange(conversation, f"Number {number}?")
    provider.embeddings.refuses = lambda text: REFUSED in text or len(text) > 1000
    assert recollections.write_all_missing(conversation.pk) == 86
    without = Embedding.objects.filter(vector=None)
    assert [row.message.text for row in without] == [REFUSED]
    assert not index.unindexed(conversation.pk).exists()
    conversation.refresh_from_db()
    branch = index.branch_of(conversation.pk, conversation.head_id)
    vector = meaning.of_question(conversation.pk, "wants to read")
    hits = recollections.best(branch, "wants to read", vector, most=3, completes=16)
    assert without[0].pk in [hit.message_id for hit in hits]  # It is found by its words,
    provider.embeddings.requests.clear()
    recollections.best(branch, "wants to read", vector, most=1, completes=16)
    assert not provider.embeddings.requests  # and not asked for again.


def test_an_embedder_that_refuses_everything_puts_nothing_into_the_index(
    conversation: Conversation, provider: ScriptedProvider
) -> None:
    exchange(conversation, FACT)
    provider.embeddings.status = 422
    with pytest.raises(ProviderError, match="rejected"):
        recollections.write_all_missing(conversation.pk)
    assert not Embedding.objects.exists()


def test_the_command_goes_on_with_the_next_conversation_and_says_what_failed(
    owner: User, provider: ScriptedProvider
) -> None:
    for text in ("One?", "Two?", "Three?"):
        exchange(make_conversation(owner), text, text)
    provider.embeddings.refuses = lambda text: "Two" in text or text == index.HARMLESS
    out, err = StringIO(), StringIO()
    with pytest.raises(CommandError, match=r"In 1 conversations .*: rejected \(1\)\.$"):
        call_command("index_messages", stdout=out, stderr=err)
    failed = Message.objects.filter(content__0__text="Two?").values_list("conversation", flat=True)[0]
    assert err.getvalue() == f"Conversation {failed}: rejected\n"
    assert out.getvalue().splitlines()[-1] == "4 messages were put into the index."


def test_the_command_leaves_an_embedder_alone_that_fails_everywhere(owner: User, provider: ScriptedProvider) -> None:
    for _ in range(8):
        exchange(make_conversation(owner))
    provider.embeddings.status = 500
    with pytest.raises(CommandError, match=r"provider_down \(5\)\. It was not asked any further\."):
        call_command("index_messages", stdout=StringIO(), stderr=StringIO())
    assert len(provider.embeddings.requests) == 5


@pytest.mark.parametrize("status", [400, 401, 413, 422])
def test_a_question_that_is_refused_costs_the_others_nothing(
    long: Conversation, provider: ScriptedProvider, status: int
) -> None:
    provider.embeddings.status = status
    with pytest.raises(ProviderError):
        meaning.of_question(long.pk, "Refused?")
    provider.embeddings.status = 200
    assert meaning.of_question(long.pk, QUESTION)


@pytest.mark.parametrize("status", [408, 429, 500])
def test_a_provider_that_fails_is_left_alone_for_a_while_and_another_is_not(
    long: Conversation, provider: ScriptedProvider, status: int
) -> None:
    provider.embeddings.status = status
    for _ in range(2):
        with pytest.raises(ProviderError):
            meaning.of_question(long.pk, QUESTION)
    assert len(provider.embeddings.requests) == 1
    assert meaning.of_question(long.pk, QUESTION, model=Other())


class Other:
    """Another provider's."""

    name, is_remote = "other:model@1", True

    def embed(self, texts: Sequence[str], *, seconds: float) -> Embedded:
        return Embedded([[1.0] for _ in texts])


def test_a_long_question_that_is_refused_is_asked_by_its_beginning(
    long: Conversation, provider: ScriptedProvider
) -> None:
    provider.embeddings.refuses = lambda text: len(text) > meaning.SHORT_CHARACTERS
    assert meaning.of_question(long.pk, f"{QUESTION} {'And why? ' * 100}")


def test_an_index_that_cannot_be_written_holds_up_one_reply(
    long: Conversation, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    recalled(long)
    Embedding.objects.filter(message__in=long.messages.order_by("-pk")[:4]).delete()
    monkeypatch.setattr(meaning, "QUESTION_SECONDS", 0.2)
    provider.embeddings.delay = 20
    provider.embeddings.requests.clear()
    assert [recalled(long)[0] for _ in range(3)] == [FACT] * 3
    assert len(provider.embeddings.requests) == 1
    provider.embeddings.delay = 0
    assert meaning.of_question(long.pk, "Another question?")  # One text is not a batch.


def test_in_a_transaction_no_index_is_written_by_a_provider(long: Conversation, provider: ScriptedProvider) -> None:
    memory = ConversationMemory.open(conversation_id=long.pk)
    memory.recall(QUESTION)
    Embedding.objects.filter(conversation=long).delete()
    provider.embeddings.requests.clear()
    with transaction.atomic():
        memory.recall(QUESTION)
    assert not provider.embeddings.requests
    memory.recall(QUESTION)
    assert provider.embeddings.requests


@pytest.mark.parametrize("fault", [MemoryError(), RuntimeError("secret"), ValueError(), OSError()])
def test_whatever_an_embedder_does_wrong_costs_the_meaning_alone(long: Conversation, fault: Exception) -> None:
    with pytest.raises(ProviderError, match="provider_down"):
        meaning.of_texts(long.pk, ["Why?"], model=Broken(fault))
    memory = ConversationMemory.open(embedder=Broken(fault), conversation_id=long.pk)
    assert FACT in [message.text for message in memory.recall(QUESTION)]


class Broken(Other):
    """A programmer's own, with a fault."""

    def __init__(self, fault: Exception) -> None:
        self._fault = fault

    def embed(self, texts: Sequence[str], *, seconds: float) -> Embedded:
        raise self._fault


def test_too_few_vectors_are_none(conversation: Conversation) -> None:
    class Few(Other):
        def embed(self, texts: Sequence[str], *, seconds: float) -> Embedded:
            return Embedded([])

    with pytest.raises(ProviderError, match="garbled"):
        meaning.of_texts(conversation.pk, ["Why?"], model=Few())


def test_an_embedder_that_cannot_be_made_costs_the_meaning_alone(long: Conversation, settings: Settings) -> None:
    embedder().close()  # type: ignore[attr-defined]  # it is the one of an endpoint
    embedder.cache_clear()
    settings.POCKETCHAT_EMBEDDER_API_KEY = "ключ"
    assert recalled(long)[0] == FACT
    with pytest.raises(CommandError, match="not_configured"):
        call_command("index_messages")
    settings.POCKETCHAT_EMBEDDER_API_KEY = ""


def test_a_question_is_forgotten_after_a_while(
    conversation: Conversation, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked() -> int:
        return len(provider.embeddings.requests)

    meaning.of_question(conversation.pk, QUESTION)
    meaning.of_question(conversation.pk, QUESTION)
    assert asked() == 1
    monkeypatch.setattr(meaning, "KEPT_SECONDS", -1.0)
    meaning.of_question(conversation.pk, "Another?")
    monkeypatch.undo()
    assert meaning.if_at_hand(conversation.pk, QUESTION) is not None
    assert asked() == 2
    meaning.of_question(conversation.pk, "Another?")
    assert asked() == 3
