"""A question before it is stored."""

import json

import pytest
from pytest_django import Settings

from conversations.budgets import budget_for
from conversations.context.values import Budget
from conversations.models import Conversation
from conversations.prompts import check_system_prompt, checked_prompt, model_for, most_characters
from conversations.refusals import EmptyPrompt, PromptTooLong, SystemPromptTooLong

pytestmark = pytest.mark.django_db


def test_a_question_is_cleaned() -> None:
    assert checked_prompt("  a\x00b \ud800 c\r\n") == "ab \ufffd c"


@pytest.mark.parametrize("text", ["", "   ", "\n\t\n", "\x00"])
def test_a_question_without_words_is_refused(text: str) -> None:
    with pytest.raises(EmptyPrompt):
        checked_prompt(text)


def test_a_question_too_long_is_refused_with_its_size_and_the_limit() -> None:
    with pytest.raises(PromptTooLong, match=r"200,000 characters long; at most 100,000"):
        checked_prompt("x" * 200_000)


def test_the_conversations_own_system_prompt_counts() -> None:
    question = "word " * 5_500
    assert checked_prompt(question)
    with pytest.raises(PromptTooLong) as refusal:
        checked_prompt(question, Conversation(system_prompt="word " * 3_000))
    assert refusal.value.unit == "tokens"


def test_a_conversation_may_have_a_model_of_its_own(settings: Settings) -> None:
    settings.POCKETCHAT_CHAT_MODEL = "openai:gpt-5"
    assert model_for(None) == model_for(Conversation()) == "openai:gpt-5"
    assert model_for(Conversation(model="openai:gpt-4o")) == "openai:gpt-4o"


def test_a_small_window_gives_a_quarter_of_itself_to_the_reply() -> None:
    assert budget_for("openai:llama3.2").reply == 2_000
    assert budget_for("bundled:smollm2-135m").window == 8_192


def test_what_is_said_of_a_model_holds_for_it_alone(settings: Settings) -> None:
    settings.POCKETCHAT_MODELS = json.dumps(
        {
            "openai:llama3.2": {"window": 32768, "history": 6000, "reply": 1000, "retrieved": 0, "system": 800},
            "openai:gpt-5": {"reply": 16_000},
        }
    )
    assert budget_for("openai:llama3.2") == Budget(window=32768, reply=1000, history=6000, retrieved=0, system=800)
    assert budget_for("openai:gpt-5") == Budget(
        window=400_000, reply=16_000, history=12_000, retrieved=3000, system=1500
    )
    assert budget_for("openai:gpt-4o").reply == 2000


def test_what_is_said_of_a_model_goes_before_the_window_of_the_chat_model(settings: Settings) -> None:
    settings.POCKETCHAT_CHAT_MODEL = "openai:llama3.2"
    settings.POCKETCHAT_CONTEXT_WINDOW = 4096
    assert budget_for("openai:llama3.2").window == 4096
    settings.POCKETCHAT_MODELS = '{"openai:llama3.2": {"window": 9000}}'
    assert budget_for("openai:llama3.2").window == 9000


def test_the_pairs_policy_refuses_a_long_question_at_once(settings: Settings) -> None:
    assert checked_prompt("x" * 6_001)
    assert most_characters() == 100_000
    settings.POCKETCHAT_CONTEXT_POLICY = "pairs"
    assert checked_prompt("x" * 6_000)
    assert most_characters() == 6_000
    with pytest.raises(PromptTooLong, match=r"Keep your question under 6,000 characters\."):
        checked_prompt("x" * 6_001)


def test_a_system_prompt_larger_than_its_part_is_refused_with_its_size_and_the_limit(settings: Settings) -> None:
    settings.POCKETCHAT_MODELS = '{"openai:small": {"system": 10}}'
    check_system_prompt("word " * 1_000, model="openai:gpt-5")
    with pytest.raises(SystemPromptTooLong, match=r"about 1,020 tokens; at most 10 are possible") as refusal:
        check_system_prompt("word " * 1_000, model="openai:small")
    assert refusal.value.facts == {"size": 1020, "limit": 10, "unit": "tokens"}
