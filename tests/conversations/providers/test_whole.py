"""A whole answer for work in the background: waited for, or given up for something more urgent."""

import time
from collections.abc import Iterator

import pytest
from pytest_django import Settings

from conversations.providers.errors import ProviderError
from conversations.providers.reasoning import without_reasoning
from conversations.providers.values import ChatMessage, ChatRequest
from conversations.providers.whole import answer_of
from pocketchat.embedded.process import wait_until
from tests.conversations.summaries.living import fresh_small_model
from tests.provider import Reply, ScriptedProvider, Silence

REQUEST = ChatRequest((ChatMessage("user", "Why?"),), max_tokens=10)


@pytest.fixture
def provider(settings: Settings) -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as scripted, fresh_small_model():
        settings.POCKETCHAT_CHAT_MODEL = "openai:small"
        settings.POCKETCHAT_CHAT_BASE_URL = scripted.openai_url
        settings.POCKETCHAT_CHAT_API_KEY = "sk-test"
        yield scripted


def code_of(**more: object) -> str:
    with pytest.raises(ProviderError) as error:
        answer_of("openai:small", REQUEST, **({"seconds": 10.0} | more))  # type: ignore[arg-type]  # as they are
    return error.value.code


def test_an_answer_comes_without_its_reasoning(provider: ScriptedProvider) -> None:
    provider.script(Reply("<think>Hm.</think> Because."), Reply("Because."))
    assert answer_of("openai:small", REQUEST, seconds=10).text == "Because."
    assert answer_of("openai:small", REQUEST, seconds=10, gives_way=lambda: False).text == "Because."


def test_nothing_is_asked_while_something_else_is_urgent(provider: ScriptedProvider) -> None:
    assert code_of(gives_way=lambda: True) == "gave_way"
    assert provider.requests == []


def test_what_becomes_urgent_meanwhile_has_the_connection_closed_within_a_second(provider: ScriptedProvider) -> None:
    provider.script(Reply("Because.", fault=Silence(after=1)))
    began = time.monotonic()
    assert code_of(gives_way=lambda: bool(provider.requests)) == "gave_way"
    assert time.monotonic() - began < 2
    wait_until(lambda: provider.open_connections == 0, seconds=2)


@pytest.mark.parametrize("is_asked", [True, False])
def test_a_model_that_says_nothing_is_given_up(provider: ScriptedProvider, is_asked: bool) -> None:
    provider.script(Reply("Because.", fault=Silence()))
    assert code_of(seconds=1.2, gives_way=(lambda: False) if is_asked else None) == "timed_out"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("Because.", "Because."),
        ("<think>Hm.</think>Because.", "Because."),
        ("<Reasoning effort='low'>Hm.\n</Reasoning>\nBecause.", "Because."),
        ("Hm.</think>Because.", "Because."),
        ("<think>Hm.", ""),
        ("I think. <b>", "I think. <b>"),
        ("<think>Hm.</think>\n<think>So.</think>\nBecause.", "Because."),
        ("So they want <b>.\n</think>\n\nBecause.", "Because."),
        ("Ann asked about <think> tags. Her name is Ann.", "Ann asked about <think> tags. Her name is Ann."),
        ("Of <think> and </think>.\nBecause.", "Of <think> and </think>.\nBecause."),
        ("Ann asked what </think> means. Because.", "Ann asked what </think> means. Because."),
        ("Ann wrote:\n<think>\nHm.\n</think>\nBecause.", "Ann wrote:\n<think>\nHm.\n</think>\nBecause."),
        ("<think>Hm.</think>Ann asked of:\n</think>", "Ann asked of:\n</think>"),
    ],
)
def test_reasoning_is_taken_off(answer: str, said: str) -> None:
    assert without_reasoning(answer) == said
