"""`keep_last_with_summary`: the last messages, and a summary of the others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.summarised import keep_last_with_summary, summary_message
from conversations.providers.values import ChatMessage

messages = st.lists(
    st.builds(ChatMessage, st.sampled_from(["system", "user", "assistant", "tool"]), st.text(max_size=4)), max_size=12
)
summaries = st.sampled_from(["", " \n", "They spoke of bees.", "  padded  "])
counts = st.integers(min_value=0, max_value=14)

user, tool, system = ChatMessage("user", "u"), ChatMessage("tool", "t"), ChatMessage("system", "s")


def slowly(given: list[ChatMessage], summary: str, count: int) -> list[ChatMessage]:
    system = [message for message in given if message.role == "system"]
    last: list[ChatMessage] = []
    dropped = 0
    others = [message for message in given if message.role != "system"]
    for number, message in enumerate(others):
        if number < len(others) - count or (message.role == "tool" and not last):
            dropped += 1
        else:
            last.append(message)
    told = [ChatMessage("system", "Summary of earlier conversation:\n" + summary.strip())]
    return system + (told if dropped and summary.strip() else []) + last


@given(messages, summaries, counts)
def test_system_messages_then_the_summary_then_the_last(given: list[ChatMessage], summary: str, count: int) -> None:
    before = list(given)
    assert list(keep_last_with_summary(given, summary=lambda: summary, count=count)) == slowly(given, summary, count)
    assert given == before


@given(messages, counts)
def test_the_summary_is_asked_for_by_each_call_that_leaves_something_out(given: list[ChatMessage], count: int) -> None:
    calls: list[int] = []

    def summary() -> str:
        calls.append(1)
        return f"Summary {len(calls)}"

    first = keep_last_with_summary(given, summary=summary, count=count)
    second = keep_last_with_summary(given, summary=summary, count=count)
    kept = [message for message in first if message.role != "system"]
    is_dropping = len(kept) < len([message for message in given if message.role != "system"])
    assert len(calls) == (2 if is_dropping else 0)
    assert (first != second) == is_dropping


def test_results_that_would_come_first_are_left_out_and_summarised() -> None:
    kept = keep_last_with_summary([user, tool, tool, user], summary=lambda: "Bees.", count=3)
    assert [(message.role, message.text) for message in kept] == [
        ("system", "Summary of earlier conversation:\nBees."),
        ("user", "u"),
    ]


def test_results_in_the_middle_stay() -> None:
    assert keep_last_with_summary([user, tool, user], summary=lambda: "", count=3) == (user, tool, user)


def test_none_of_the_others_is_kept_when_none_is_asked_for() -> None:
    kept = keep_last_with_summary([user, system, user], summary=lambda: "Bees.", count=0)
    assert kept == (system, summary_message("Bees."))


def test_the_label_can_be_another() -> None:
    kept = keep_last_with_summary([user, user], summary=lambda: "Bees.", count=1, label="Before:")
    assert kept[0].text == "Before:\nBees."


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^count must not be negative\.$"):
        keep_last_with_summary([], summary=str, count=-1)
