"""`build_context`: the newest completed pairs, whole and without a gap, within two limits."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conversations.context.pairs import MAX_CHARS, MAX_COMPLETED_PAIRS, build_context
from conversations.context.values import StoredMessage, StoredTurn
from conversations.refusals import PromptTooLong
from tests.conversations.context.histories import orderly_turns, said

turns = orderly_turns(chars=60)
limits = st.integers(min_value=8, max_value=400)
counts = st.integers(min_value=1, max_value=7)


def pair(number: int, *, size: int = 0, complete: bool = True) -> StoredTurn:
    """A question and an answer that take `size` characters together."""
    return StoredTurn(
        (
            said(number, "user", 1, chars=size // 2),
            said(number + 1, "assistant", 1, complete=complete, chars=size - size // 2),
        )
    )


def is_eligible(turn: StoredTurn) -> bool:
    answers = [message for message in turn.messages if message.role == "assistant"]
    return any(message.text for message in answers) and all(message.is_complete for message in answers)


def words(turn: StoredTurn) -> tuple[str, str]:
    """The question and the answer."""
    answers = [message.text for message in turn.messages if message.role == "assistant"]
    return turn.messages[0].text, "\n\n".join(answers)


def slowly(history: tuple[StoredTurn, ...], prompt: str, max_chars: int, most: int) -> tuple[list[str], bool]:
    """The same rules: of all ends of the completed pairs that keep both limits, the longest."""
    pairs = [words(turn) for turn in history if is_eligible(turn)]
    ends = [pairs[at:] for at in range(len(pairs) + 1)]
    allowed = [
        end
        for end in ends
        if len(end) <= most and len(prompt) + sum(len(question) + len(answer) for question, answer in end) <= max_chars
    ]
    longest = max(allowed, key=len)
    return [text for one in longest for text in one] + [prompt], len(longest) < len(pairs)


@given(turns, limits, counts)
def test_the_longest_end_of_the_completed_pairs_within_both_limits_is_sent(
    history: tuple[StoredTurn, ...], max_chars: int, most: int
) -> None:
    window = build_context(history, "So why?", max_chars=max_chars, max_completed_pairs=most)
    texts, omitted = slowly(history, "So why?", max_chars, most)
    assert [part.text for part in window.parts] == texts
    assert window.omitted == omitted


@given(turns, limits, counts)
def test_pairs_are_whole_in_order_of_time_and_the_question_is_last(
    history: tuple[StoredTurn, ...], max_chars: int, most: int
) -> None:
    *before, last = build_context(history, "So why?", max_chars=max_chars, max_completed_pairs=most).parts
    assert (last.role, last.text) == ("user", "So why?")
    assert [part.role for part in before] == ["user", "assistant"] * (len(before) // 2)
    eligible = [text for turn in history if is_eligible(turn) for text in words(turn)]
    assert [part.text for part in before] == eligible[len(eligible) - len(before) :]


@given(turns, limits, counts)
def test_turns_that_did_not_come_to_their_end_change_nothing(
    history: tuple[StoredTurn, ...], max_chars: int, most: int
) -> None:
    eligible = tuple(turn for turn in history if is_eligible(turn))
    with_others = build_context(history, "So why?", max_chars=max_chars, max_completed_pairs=most)
    assert with_others == build_context(eligible, "So why?", max_chars=max_chars, max_completed_pairs=most)


@given(turns, limits, counts)
@example((), 8, 1)
def test_both_limits_hold(history: tuple[StoredTurn, ...], max_chars: int, most: int) -> None:
    parts = build_context(history, "So why?", max_chars=max_chars, max_completed_pairs=most).parts
    assert sum(len(part.text) for part in parts) <= max_chars
    assert len(parts) <= 2 * most + 1


def test_a_newest_pair_too_large_leaves_out_all_and_no_older_one_takes_its_place() -> None:
    window = build_context([pair(1, size=10), pair(3, size=200)], "Why?", max_chars=100)
    assert [part.text for part in window.parts] == ["Why?"]
    assert window.omitted


def test_a_pair_too_large_ends_the_search() -> None:
    window = build_context([pair(1), pair(3, size=200), pair(5)], "Why?", max_chars=100)
    assert [part.text for part in window.parts] == ["<5>", "<6>", "Why?"]


def test_a_pair_that_just_fits_beside_the_question_is_sent() -> None:
    assert len(build_context([pair(1, size=96)], "Why?", max_chars=100).parts) == 3
    assert len(build_context([pair(1, size=97)], "Why?", max_chars=100).parts) == 1


@pytest.mark.parametrize(("count", "omitted"), [(6, False), (7, True)])
def test_six_pairs_are_sent_unless_told_otherwise(count: int, omitted: bool) -> None:
    window = build_context([pair(2 * number) for number in range(count)], "Why?")
    assert (len(window.parts), window.omitted) == (2 * 6 + 1, omitted)


def test_24_000_characters_are_sent_unless_told_otherwise() -> None:
    assert (MAX_CHARS, MAX_COMPLETED_PAIRS) == (24_000, 6)
    assert not build_context([pair(1, size=23_996)], "Why?").omitted
    assert build_context([pair(1, size=23_997)], "Why?").omitted


def test_what_is_not_complete_omits_nothing() -> None:
    unanswered = StoredTurn((said(1, "user", 1),))
    blank = StoredTurn((said(1, "user", 1), StoredMessage(2, "assistant", " ", 1)))
    assert not build_context([pair(1, complete=False), unanswered, blank], "Why?").omitted


@pytest.mark.parametrize("length", [5_999, 6_000])
def test_a_question_of_6_000_characters_is_taken(length: int) -> None:
    assert build_context([], "x" * length).parts[0].text == "x" * length


@pytest.mark.parametrize(("length", "max_chars", "limit"), [(6_001, 24_000, 6_000), (101, 100, 100), (7_000, 100, 100)])
def test_a_question_over_a_limit_is_refused(length: int, max_chars: int, limit: int) -> None:
    with pytest.raises(PromptTooLong, match=r"^Keep your question under 6,000 characters\.$") as refusal:
        build_context([], "x" * length, max_chars=max_chars)
    assert (refusal.value.size, refusal.value.limit, refusal.value.unit) == (length, limit, "characters")


def test_a_question_that_fills_max_chars_is_sent_alone() -> None:
    window = build_context([pair(1)], "x" * 100, max_chars=100)
    assert ([part.text for part in window.parts], window.omitted) == (["x" * 100], True)


@pytest.mark.parametrize("count", [0, -1])
def test_the_limit_of_pairs_must_be_positive(count: int) -> None:
    with pytest.raises(ValueError, match=r"^max_completed_pairs must be positive\.$"):
        build_context([pair(1)], "Why?", max_completed_pairs=count)
