"""A question before it is stored."""

import pytest
from pytest_django import Settings

from conversations.models import Conversation
from conversations.prompts import budget_for, checked_prompt, model_for
from conversations.refusals import EmptyPrompt, PromptTooLong


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
    question = "word " * 4_000
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
