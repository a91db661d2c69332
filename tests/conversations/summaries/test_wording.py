"""What a model is asked, and which of its answers may stand for a conversation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.summaries.wording import is_refusal, judged, pieces, question
from conversations.text import estimate_tokens


def outcome(answer: str, *, was_cut_off: bool = False, most: int = 100, stands_for: int = 500) -> str:
    return judged(answer, was_cut_off=was_cut_off, most=most, stands_for=stands_for).outcome


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The user is called Ann.", "ok"),
        ("", "empty"),
        (" \n\u200b\t", "empty"),
        ("Updated notes:\n", "empty"),
        ("I'm sorry, but I can't help with that.", "refused_in_words"),
        ("“I’m sorry, but no.”", "refused_in_words"),
        ("Notes: I cannot summarise this.", "refused_in_words"),
        ("word " * 101, "too_long"),
    ],
)
def test_an_answer_is_good_or_told_why_not(answer: str, expected: str) -> None:
    assert outcome(answer) == expected


def test_what_was_cut_off_is_no_use_however_good_it_looks() -> None:
    assert outcome("The user is called Ann.", was_cut_off=True) == "cut_off"


def test_what_is_longer_than_the_messages_is_no_summary() -> None:
    assert outcome("word " * 50, stands_for=50) == "too_long"
    assert outcome("word " * 50, stands_for=51) == "ok"


@pytest.mark.parametrize(
    "answer",
    [
        "Ann keeps bees.",
        "**Updated notes:**\nAnn keeps bees.",
        "Here are the updated notes: Ann keeps bees.",
        "```text\nAnn keeps bees.\n```",
        "Summary: Ann\0 keeps bees.",
    ],
)
def test_the_notes_are_taken_out_of_what_stands_around_them(answer: str) -> None:
    assert judged(answer, was_cut_off=False, most=100, stands_for=100).notes == "Ann keeps bees."


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
    ],
)
def test_refusals_are_known_in_several_languages(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text", ["The user is sorry.", "User: asked for bread.", "Der Nutzer heißt Tim.", "用户喜欢蜜蜂。", ""]
)
def test_notes_are_no_refusals(text: str) -> None:
    assert not is_refusal(text)


def test_the_question_has_the_notes_and_what_was_said_next() -> None:
    assert "The notes so far:\nAnn keeps bees." in question("Ann keeps bees.", "User: Ants, too.")
    assert "User: Ants, too." in question("", "User: Ants, too.")
    assert "no notes yet" in question("", "User: Ants, too.")


texts = st.one_of(st.text(max_size=400), st.integers(0, 300).map(lambda count: "word " * count), st.just("蜂" * 300))
messages = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), texts), max_size=8)


@given(messages, st.integers(min_value=20, max_value=400))
def test_pieces_hold_all_that_was_said_in_order_and_are_small_enough(said: list[tuple[str, str]], tokens: int) -> None:
    made = pieces(said, tokens)
    together = "".join("".join(made).split())
    at = 0
    for _, text in said:
        for letter in text:
            if not letter.isspace():
                at = together.find(letter, at) + 1
                assert at > 0
    # Separators between messages are not counted.
    assert all(estimate_tokens(piece) <= tokens + piece.count("\n\n") + 3 for piece in made)
    assert bool(made) == bool(said)


def test_a_message_is_parted_only_where_it_is_larger_than_a_piece() -> None:
    said = [("user", "word " * 30), ("assistant", "word " * 30), ("user", "word " * 150)]
    made = pieces(said, 100)
    assert [piece.split(":")[0] for piece in made] == ["User", "User", "User (continued)"]
    assert made[0].count("\n\n") == 1


def test_a_message_without_words_is_told_as_such() -> None:
    assert pieces([("user", " "), ("assistant", "Yes.")], 100) == ["User: (no words)\n\nAssistant: Yes."]
