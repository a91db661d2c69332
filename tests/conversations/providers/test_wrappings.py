"""What models put around an answer, or in its place."""

import pytest

from conversations.providers.wrappings import is_refusal


@pytest.mark.parametrize(
    "text",
    [
        "Es tut mir leid, das kann ich nicht.",
        "Je suis désolé, mais non.",
        "Lo siento, no puedo.",
        "К сожалению, я не могу.",
        "很抱歉，我不能。",
        "申し訳ありませんが、できません。",
        "죄송합니다.",
        "As an AI, I cannot do that.",
        "As an AI language model I cannot do that.",
        "Als KI-Modell kann ich das nicht.",
        "作为一个人工智能，我不能。",
        "آسفة، لا أستطيع.",
    ],
)
def test_refusals_are_known_in_several_languages(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "The user is sorry.",
        "User: asked for bread.",
        "Der Nutzer heißt Tim.",
        "用户喜欢蜜蜂。",
        "",
        "Als Kind lebte der Nutzer in Köln.",
        "As an airline pilot, the user flies to Lagos.",
        "As an AI engineer, the user trains models.",
        "Como modelo de moda, Ana viaja mucho.",
        "作为一个工程师，用户喜欢蜜蜂。",
    ],
)
def test_what_says_something_is_no_refusal(text: str) -> None:
    assert not is_refusal(text)
