"""Results of tools cut down to the room there is; what the model wrote stays whole."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from conversations.context.shortened import NOTE_TOKENS, shortened, shortened_to
from conversations.context.values import StoredMessage
from conversations.providers.values import ToolCall, ToolResult


def a_round(number: int, asks: int, brings: int, characters: int) -> list[StoredMessage]:
    call, result = ToolCall(f"c{number}", "look", "{}"), ToolResult(f"c{number}", "look", "x" * characters)
    return [
        StoredMessage(-number, "assistant", "", asks, calls=(call,)),
        StoredMessage(-number, "tool", "", brings, results=(result,)),
    ]


@st.composite
def rounds(draw: st.DrawFn) -> list[StoredMessage]:
    sizes = st.tuples(st.integers(1, 40), st.integers(0, 2000), st.integers(0, 3000))
    drawn = draw(st.lists(sizes, max_size=5))
    return [message for number, size in enumerate(drawn, start=1) for message in a_round(number, *size)]


def size_of(messages: tuple[StoredMessage, ...]) -> int:
    return sum(message.tokens for message in messages)


@given(rounds(), st.integers(min_value=0, max_value=4000))
def test_results_are_cut_and_nothing_is_dropped(given: list[StoredMessage], tokens: int) -> None:
    cut = shortened_to(tokens, given)
    assert [(one.role, one.calls) for one in cut] == [(one.role, one.calls) for one in given]
    assert [[result.call_id for result in one.results] for one in cut] == [
        [result.call_id for result in one.results] for one in given
    ]
    assert [one for one in cut if not one.results] == [one for one in given if not one.results]
    own = sum(one.tokens for one in given if not one.results)
    assert size_of(cut) <= max(tokens, own)


@given(rounds(), st.integers(min_value=0, max_value=4000))
def test_what_fits_is_left_alone(given: list[StoredMessage], tokens: int) -> None:
    if sum(one.tokens for one in given) <= tokens:
        assert shortened_to(tokens, given) == tuple(given)


@given(rounds(), st.integers(min_value=0, max_value=4000))
def test_the_large_ones_are_cut_to_the_same_size_and_the_small_ones_stay(
    given: list[StoredMessage], tokens: int
) -> None:
    """No share larger than theirs would fit: the slow way tries them all."""
    cut = shortened_to(tokens, given)
    results = [one.tokens for one in given if one.results]
    room = max(tokens - sum(one.tokens for one in given if not one.results), 0)
    if sum(one.tokens for one in given) > tokens:
        share = max(
            size for size in range(max(results, default=0) + 1) if sum(min(one, size) for one in results) <= room
        )
        assert [one.tokens for one in cut if one.results] == [min(one, share) for one in results]


def test_the_text_is_cut_in_proportion_with_room_for_the_note() -> None:
    (_, cut) = shortened_to(10 + 120, a_round(1, 10, 1000, 4000))
    kept = 4000 * (120 - NOTE_TOKENS) // 1000
    assert cut.results[0].text == f"{'x' * kept}\n[Shortened: {4000 - kept:,} of 4,000 characters are left out.]"


def test_the_results_of_one_message_are_cut_alike() -> None:
    asked, brought = a_round(1, 10, 1000, 2000)
    brought = replace(brought, results=(*brought.results, ToolResult("d", "look", "y" * 2000)))
    _, cut = shortened_to(10 + 140, [asked, brought])
    assert [result.text.count("x") + result.text.count("y") for result in cut.results] == [200, 200]


def test_a_result_keeps_its_call_and_its_note_when_there_is_no_room_at_all() -> None:
    _, cut = shortened_to(0, a_round(1, 10, 1000, 4000))
    assert cut.results[0].text == "\n[Shortened: 4,000 of 4,000 characters are left out.]"


def test_shortening_says_how_much_is_missing() -> None:
    assert shortened("abc", 3) == "abc"
    assert shortened("abcdef", 2) == "ab\n[Shortened: 4 of 6 characters are left out.]"
