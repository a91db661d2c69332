"""When a model is asked for a title, and whose title stays."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest
from django.db import connection
from django.db.models.signals import post_save
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from conversations import titles
from conversations.models import Conversation, ModelCall, Turn
from conversations.providers.registry import BUNDLED, small_model_name
from conversations.titles import naming
from tests.conversations.summaries.living import fresh_small_model
from tests.factories import answer, ask, exchange, make_conversation
from tests.provider import Failure, Reply, ScriptedProvider, Silence
from tests.threads import with_own_connection


@pytest.fixture(autouse=True)
def provider(settings: Settings) -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as scripted, fresh_small_model():
        settings.POCKETCHAT_CHAT_MODEL = "openai:large"
        settings.POCKETCHAT_SMALL_MODEL = "openai:small"
        settings.POCKETCHAT_CHAT_BASE_URL = scripted.openai_url
        settings.POCKETCHAT_CHAT_API_KEY = "sk-test"
        yield scripted


@pytest.fixture
def begun(conversation: Conversation) -> Conversation:
    """Two completed turns."""
    exchange(conversation, "How do I bake bread?", "With flour.")
    exchange(conversation, "And rye?", "The same way.")
    conversation.refresh_from_db()
    return conversation


def title_of(conversation: Conversation) -> tuple[str, str]:
    conversation.refresh_from_db()
    return conversation.title, conversation.title_source


def test_the_small_model_names_a_conversation_after_its_second_turn(
    begun: Conversation, provider: ScriptedProvider
) -> None:
    activity = begun.last_activity_at
    provider.script(Reply("Baking rye bread"))
    assert titles.name(begun.pk)
    assert title_of(begun) == ("Baking rye bread", "model")
    body = provider.requests[-1].body
    assert body["model"] == small_model_name().partition(":")[2] == "small"
    assert "How do I bake bread?" in body["messages"][-1]["content"]
    assert (body.get("max_completion_tokens") or body.get("max_tokens")) == 30
    call = ModelCall.objects.get(conversation=begun, purpose="title")
    assert (call.model, call.outcome) == ("small", "ok")
    begun.refresh_from_db()
    assert begun.last_activity_at == activity
    assert not titles.name(begun.pk)
    assert len(provider.requests) == 1


def test_whoever_sees_that_a_model_was_asked_sees_the_title_too(
    begun: Conversation, provider: ScriptedProvider
) -> None:
    seen: list[tuple[str, str]] = []

    def look(**_: object) -> None:
        seen.append(title_of(begun))

    provider.script(Reply("Baking rye bread"))
    post_save.connect(look, sender=ModelCall)
    try:
        assert titles.name(begun.pk)
    finally:
        post_save.disconnect(look, sender=ModelCall)
    assert seen == [("Baking rye bread", "model")]


def test_until_then_the_first_words_are_the_title(conversation: Conversation, provider: ScriptedProvider) -> None:
    exchange(conversation, "hey", "Hello.")
    answer(ask(conversation, "Why?"), "", status=Turn.Status.FAILED, error_code="provider_down")
    assert not titles.name(conversation.pk)
    assert title_of(conversation) == ("hey", "fallback")
    assert provider.requests == []


def test_a_title_that_was_typed_is_never_touched(begun: Conversation, provider: ScriptedProvider) -> None:
    Conversation.objects.filter(pk=begun.pk).update(title="Mine", title_source="user")
    assert not titles.name(begun.pk)
    assert title_of(begun) == ("Mine", "user")
    assert provider.requests == []


@contextmanager
def renamed_right_after(table: str, conversation: Conversation) -> Iterator[None]:
    """Its owner renames it between the first query that reads a table and whatever is done next."""
    is_renamed = False

    def rename(execute: Callable[..., Any], sql: str, *asked: Any) -> Any:
        nonlocal is_renamed
        result = execute(sql, *asked)
        if not is_renamed and f'FROM "{table}"' in sql:
            is_renamed = True
            Conversation.objects.filter(pk=conversation.pk).update(title="Mine", title_source="user")
        return result

    with connection.execute_wrapper(rename):
        yield
    assert is_renamed


@pytest.mark.parametrize("table", ["conversations_conversation", "conversations_turn", "conversations_message"])
def test_nor_one_that_is_typed_at_whatever_moment(begun: Conversation, provider: ScriptedProvider, table: str) -> None:
    """While it is looked at whether one is due, after that, and when the model is about to be asked."""
    provider.script(Reply("Baking rye bread"))
    with renamed_right_after(table, begun):
        assert not titles.name(begun.pk)
    assert title_of(begun) == ("Mine", "user")
    assert len(provider.requests) == (table == "conversations_message")


@pytest.mark.django_db(transaction=True)
def test_nor_one_that_is_typed_while_the_model_thinks(begun: Conversation, provider: ScriptedProvider) -> None:
    provider.script(Reply("Baking rye bread", first_delay=1.0))
    named: list[bool] = []

    def name() -> None:
        named.append(titles.name(begun.pk))

    thinking = Thread(target=with_own_connection(name))
    thinking.start()
    provider.wait_for_requests(1)
    Conversation.objects.filter(pk=begun.pk).update(title="Mine", title_source="user")
    thinking.join()
    assert named == [False]
    assert title_of(begun) == ("Mine", "user")


def test_a_long_conversation_is_named_after_how_it_began(
    conversation: Conversation, provider: ScriptedProvider
) -> None:
    for number in range(150):
        exchange(conversation, f"Question {number}?", f"Answer {number}.")
    conversation.refresh_from_db()
    provider.script(Reply("Many questions"))
    with CaptureQueriesContext(connection) as queries:
        assert titles.suggest(conversation.pk)
    asked = provider.requests[-1].body["messages"][-1]["content"]
    assert [line for line in asked.splitlines() if line.startswith("Question")] == [
        f"Question {number}?" for number in range(3)
    ]
    assert len(queries) == 5  # conversation, ids, questions; its title, the trace


@pytest.mark.parametrize(
    "reply", [Reply("<think>Hm, they ask of bread and"), Reply(" "), Reply(fault=Failure("server"))]
)
def test_a_bad_answer_leaves_the_first_words_and_is_tried_again_later(
    begun: Conversation, provider: ScriptedProvider, reply: Reply
) -> None:
    provider.script(reply, Reply("Baking rye bread"))
    assert not titles.name(begun.pk)
    assert title_of(begun) == ("How do I bake bread?", "fallback")
    assert not titles.is_due(begun.pk)
    for question in ("And oats?", "And maize?"):
        exchange(begun, question, "No.")
    assert titles.name(begun.pk)
    assert title_of(begun) == ("Baking rye bread", "model")


def test_a_call_that_failed_is_traced_with_the_time_it_took(
    begun: Conversation, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(naming, "SECONDS", 1.0)
    provider.script(Reply("Baking", fault=Silence()))
    assert not titles.name(begun.pk)
    call = ModelCall.objects.get(conversation=begun)
    assert call.outcome == "timed_out"
    assert 1000 <= call.latency_ms < 3000


def test_the_bundled_model_answers_first_and_that_was_no_try(
    begun: Conversation, provider: ScriptedProvider, settings: Settings
) -> None:
    settings.POCKETCHAT_SMALL_MODEL = BUNDLED
    settings.POCKETCHAT_BUNDLED_URL = provider.openai_url
    waiting = ask(make_conversation(begun.owner))
    Turn.objects.filter(pk=waiting.pk).update(model=BUNDLED)
    assert not titles.name(begun.pk)
    assert provider.requests == []
    assert ModelCall.objects.get(conversation=begun).outcome == "gave_way"
    waiting.delete()
    provider.script(Reply("Baking rye bread"))
    assert titles.name(begun.pk)


def test_the_owner_may_ask_for_another(begun: Conversation, provider: ScriptedProvider) -> None:
    Conversation.objects.filter(pk=begun.pk).update(title="Mine", title_source="user")
    provider.script(Reply("Baking rye bread"))
    assert titles.suggest(begun.pk)
    assert title_of(begun) == ("Baking rye bread", "model")


def test_without_titles_nobody_is_asked(begun: Conversation, settings: Settings) -> None:
    settings.POCKETCHAT_TITLES = False
    assert not titles.is_due(begun.pk)


def test_a_conversation_in_the_bin_gets_none(begun: Conversation, provider: ScriptedProvider) -> None:
    Conversation.objects.filter(pk=begun.pk).update(trashed_at=begun.created_at)
    assert not titles.suggest(begun.pk)
    assert provider.requests == []


def test_another_conversation_says_nothing_in_it(begun: Conversation, provider: ScriptedProvider) -> None:
    other = make_conversation(begun.owner)
    exchange(other, "A secret?", "Yes.")
    provider.script(Reply("Bread"))
    titles.suggest(begun.pk)
    assert "secret" not in str(provider.requests[-1].body)
