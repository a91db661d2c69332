"""Which earlier turns are sent: a window that stays where it is until it overflows."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.assemble import as_turns
from conversations.context.pairs import build_context
from conversations.context.values import Past, StoredMessage, StoredTurn, Summary, Window
from conversations.context.windows import MOST_MESSAGES, pairs, stepped
from conversations.refusals import PromptTooLong
from tests.conversations.context.histories import broken_branches, orderly_turns, said

rooms = st.one_of(st.integers(min_value=0, max_value=700), st.sampled_from([0, 1, 3000]))


def ids_of(window: Window) -> list[int]:
    return [message.id for turn in window.turns for message in turn.messages]


def turns_of(*sizes: int, first: int = 1) -> tuple[StoredTurn, ...]:
    numbers = count(first)
    return tuple(
        StoredTurn((said(next(numbers), "user", size - size // 2), said(next(numbers), "assistant", size // 2)))
        for size in sizes
    )


def fits(turns: tuple[StoredTurn, ...], tokens: int, messages: int) -> bool:
    stored = [message for turn in turns for message in turn.messages]
    return sum(message.tokens for message in stored) <= tokens and len(stored) <= messages


def slowly(past: Past, room: int, start: int | None, *, most: int = 1000) -> tuple[StoredTurn, ...]:
    """The rule in the simplest way: of all ends of the branch the longest that may be sent."""
    ends = [past.turns[at:] for at in range(len(past.turns) + 1)]
    kept = [end for end in ends if any(message.id == start for turn in end[:1] for message in turn.messages)]
    stands, is_known = (kept[0], True) if kept else (past.turns, past.unread is None)
    if is_known and fits(stands, room, most):
        return stands
    prepared = [
        end
        for end in ends
        if 0 < len(end) < len(stands)
        and past.turns[-len(end) - 1].ids[-1] in [one.through for one in past.summaries]
        and fits(end, room, most)
        and sum(turn.tokens for turn in end) >= room // 3
    ]
    if prepared:
        return min(prepared, key=lambda end: abs(sum(turn.tokens for turn in end) - room * 2 // 3))
    shorter = [end for end in ends if len(end) <= len(stands) and fits(end, room * 2 // 3, most * 2 // 3)]
    longest = max(shorter, key=len)
    if not longest and stands and fits(stands[-1:], room, most):
        return stands[-1:]
    return longest


@st.composite
def pasts(draw: st.DrawFn) -> tuple[Past, int | None]:
    """A past, and where the window began: somewhere on the branch, or at a message that is not there."""
    turns = draw(st.one_of(orderly_turns(), broken_branches().map(as_turns)))
    ids = [message.id for turn in turns for message in turn.messages]
    start = draw(st.sampled_from([None, 777, *ids]))
    unread, tokens = draw(st.sampled_from([(None, 0), (-1, 5), (-1, 5000)]))
    through = draw(st.lists(st.sampled_from([*ids, -3]), max_size=3, unique=True))
    summaries = tuple(Summary(at, "Bees.", 5, through=at) for at in through)
    return Past(turns, unread=unread, unread_tokens=tokens, summaries=summaries), start


@given(pasts(), rooms)
def test_the_window_is_where_the_simplest_rule_puts_it(drawn: tuple[Past, int | None], room: int) -> None:
    past, start = drawn
    assert stepped(start)(past, room).turns == slowly(past, room, start)


@given(pasts(), rooms)
def test_it_is_a_whole_end_of_the_branch_that_fits(drawn: tuple[Past, int | None], room: int) -> None:
    past, start = drawn
    kept = stepped(start)(past, room).turns
    assert kept == past.turns[len(past.turns) - len(kept) :]
    assert fits(kept, room, MOST_MESSAGES)


@given(pasts(), rooms)
def test_a_cut_is_to_two_thirds_unless_the_newest_turn_alone_takes_more_or_it_is_behind_a_summary(
    drawn: tuple[Past, int | None], room: int
) -> None:
    past, start = drawn
    window = stepped(start)(past, room)
    if window.was_cut:
        before = [number for turn in past.turns[: len(past.turns) - len(window.turns)] for number in turn.ids]
        is_behind_a_summary = before and before[-1] in [one.through for one in past.summaries]
        is_two_thirds = fits(window.turns, room * 2 // 3, MOST_MESSAGES * 2 // 3)
        assert is_two_thirds or len(window.turns) == 1 or is_behind_a_summary


@given(st.lists(st.integers(min_value=2, max_value=120), min_size=2, max_size=60))
def test_between_cuts_the_window_begins_where_it_began(sizes: list[int]) -> None:
    """A conversation from its first turn to its last; each window begins where the one before did, or was cut because
    it overflowed."""
    history, start = turns_of(*sizes), None
    for length in range(1, len(history) + 1):
        since = next((at for at, turn in enumerate(history) if start in turn.ids), 0)
        window = stepped(start)(Past(history[:length]), 300)
        overflows = not fits(history[since:length], 300, 1000)
        assert window.was_cut == overflows
        assert overflows or ids_of(window)[0] == history[since].ids[0]
        start = ids_of(window)[0]


def test_the_newest_turn_is_kept_when_it_fits_at_all() -> None:
    assert ids_of(stepped()(Past(turns_of(10, 300)), 300)) == [3, 4]
    assert ids_of(stepped()(Past(turns_of(10, 301)), 300)) == []


def test_a_newest_turn_of_more_than_two_thirds_is_kept_alone() -> None:
    assert ids_of(stepped()(Past(turns_of(50, 20, 270)), 300)) == [5, 6]


def test_a_window_that_just_fits_is_not_cut() -> None:
    assert not stepped()(Past(turns_of(100, 200)), 300).was_cut
    assert stepped()(Past(turns_of(101, 200)), 300).was_cut


def through(*numbers: int) -> tuple[Summary, ...]:
    return tuple(Summary(number, "Bees.", 5, through=number) for number in numbers)


def test_a_cut_is_made_right_behind_what_was_summarised_ahead() -> None:
    turns = turns_of(60, 60, 60, 60, 80)
    assert ids_of(stepped()(Past(turns), 300)) == [5, 6, 7, 8, 9, 10]
    assert ids_of(stepped()(Past(turns, summaries=through(2)), 300)) == [3, 4, 5, 6, 7, 8, 9, 10]
    assert ids_of(stepped()(Past(turns, summaries=through(6)), 300)) == [7, 8, 9, 10]
    assert ids_of(stepped()(Past(turns, summaries=through(2, 4, 6)), 300)) == [5, 6, 7, 8, 9, 10]


@pytest.mark.parametrize(
    ("sizes", "end"),
    [
        ((20, 200, 50, 70), 2),  # what is left does not fit
        ((60, 60, 60, 60, 80), 3),  # the middle of a turn
        ((60, 60, 60, 60, 80), 8),  # less than a third is left
        ((60, 60, 60, 60, 80), 10),  # nothing is left
        ((60, 60, 60, 60, 80), -3),  # on another branch, or before what was read
    ],
)
def test_but_not_where_that_would_leave_too_much_or_too_little(sizes: tuple[int, ...], end: int) -> None:
    past = Past(turns_of(*sizes))
    assert stepped()(Past(past.turns, summaries=through(end)), 300).turns == stepped()(past, 300).turns


def test_a_summary_written_ahead_cuts_no_window_that_fits() -> None:
    window = stepped(3)(Past(turns_of(60, 60, 60), summaries=through(2, 4)), 300)
    assert (ids_of(window), window.was_cut) == ([3, 4, 5, 6], False)


@pytest.mark.parametrize("start", [None, 777, 2])
def test_a_start_that_is_not_there_any_more_begins_the_window_anew(start: int | None) -> None:
    """It was deleted, or lies on another branch; or nobody knows it."""
    rest = Past(turns_of(10, 10, first=5))
    assert ids_of(stepped(start)(rest, 300)) == [5, 6, 7, 8]
    assert ids_of(stepped(start)(Past(rest.turns, unread=4), 15)) == [7, 8]


def test_what_was_not_read_is_cut_off_unless_the_window_stays_behind_it() -> None:
    past = Past(turns_of(90, 90, 90, first=5), unread=4)
    assert ids_of(stepped(None)(past, 300)) == [7, 8, 9, 10]
    assert ids_of(stepped(5)(past, 300)) == [5, 6, 7, 8, 9, 10]


@pytest.mark.parametrize(
    ("sizes", "unread_tokens", "reason"),
    [
        ((400, 10), 0, "turn_too_large"),
        ((250, 100), 0, "history_budget"),
        ((290, 10), 400, "turn_too_large"),
        ((290, 10), 300, "history_budget"),
        ((300, 10), 0, "history_budget"),
    ],
)
def test_the_reason_is_the_turn_that_would_have_come_next(
    sizes: tuple[int, ...], unread_tokens: int, reason: str
) -> None:
    past = Past(turns_of(*sizes, first=5), unread=4 if unread_tokens else None, unread_tokens=unread_tokens)
    assert stepped(5 if unread_tokens else None)(past, 300).reason == reason


def test_while_the_window_stays_the_reason_stays() -> None:
    """The turn that was too large is not read again; what stands behind it may take little."""
    past = Past(turns_of(10, 10, first=5), unread=4)
    assert stepped(5, reason="turn_too_large")(past, 300).reason == "turn_too_large"
    assert stepped(5)(past, 300).reason == "history_budget"
    assert stepped(777, reason="turn_too_large")(past, 15).reason == "history_budget"
    assert stepped(5, reason="turn_too_large")(past, 15).reason == "history_budget"


def tiny(messages: int, *, first: int = 1) -> tuple[StoredTurn, ...]:
    return turns_of(*[0] * (messages // 2), first=first)


def test_a_window_of_a_thousand_tiny_messages_is_cut_to_two_thirds_of_them() -> None:
    assert len(ids_of(stepped()(Past(tiny(1000)), 300))) == 1000
    assert len(ids_of(stepped()(Past(tiny(1002)), 300))) == 666


def test_a_thousand_tiny_messages_are_stepped_over_too() -> None:
    """As `past_of` reads them: from the start, and at most a thousand."""
    history, start, starts = tiny(3000), 1, []
    for length in range(1, 1501):
        read = history[max(length - 500, 0) : length]
        at = next((at for at, turn in enumerate(read) if start in turn.ids), 0)
        unread = read[at].ids[0] - 1 or None
        window = stepped(start)(Past(read[at:], unread=unread), 300)
        start = ids_of(window)[0]
        starts.append(start)
    assert len(set(starts)) == 1 + (3000 - 1000) // (1000 - 666 + 2) + 1


@given(orderly_turns(chars=60), st.integers(min_value=7, max_value=400), st.integers(min_value=1, max_value=7))
def test_pairs_are_those_of_build_context(history: tuple[StoredTurn, ...], max_chars: int, most: int) -> None:
    window = pairs("So why?", max_chars=max_chars, max_completed_pairs=most)(Past(history), 10**9)
    context = build_context(history, "So why?", max_chars=max_chars, max_completed_pairs=most)
    assert [text for turn in window.turns for text in (turn.prompt, turn.answer)] == [
        part.text for part in context.parts[:-1]
    ]
    assert not window.was_cut
    if window.reason != "not_complete":
        assert context.omitted


@given(orderly_turns(), st.integers(min_value=0, max_value=400))
def test_pairs_fit_the_model_as_well(history: tuple[StoredTurn, ...], room: int) -> None:
    window = pairs("Why?")(Past(history), room)
    eligible = [turn for turn in history if turn.is_complete][-6:]
    ends = [eligible[at:] for at in range(len(eligible) + 1)]
    assert list(window.turns) == max((end for end in ends if fits(tuple(end), room, 1000)), key=len)


def stopped(number: int, size: int = 2) -> StoredTurn:
    return StoredTurn((said(number, "user", size), said(number + 1, "assistant", size, complete=False)))


@pytest.mark.parametrize(
    ("past", "reason"),
    [
        (Past(turns_of(*[2] * 7)), "pair_limit"),
        (Past(turns_of(*[2] * 6, first=5), unread=4), "pair_limit"),
        (Past((stopped(1), *turns_of(2, first=3))), "not_complete"),
        (Past((stopped(1), *turns_of(*[2] * 6, first=3))), "not_complete"),
        (Past((stopped(1),)), "not_complete"),
        (Past((*turns_of(400), stopped(3))), "turn_too_large"),
        (Past((*turns_of(200, 200, 2), stopped(9))), "history_budget"),
        (Past(turns_of(400, 200, 200)), "history_budget"),
        (Past(turns_of(300, 10)), "history_budget"),
        (Past(turns_of(2, first=5), unread=4), "history_budget"),
    ],
)
def test_pairs_say_why_they_begin_where_they_do(past: Past, reason: str) -> None:
    assert pairs("Why?")(past, 300).reason == reason


def test_a_pair_with_too_many_characters_is_too_large() -> None:
    long = StoredTurn((said(1, "user", 2, chars=90), said(2, "assistant", 2, chars=90)))
    assert pairs("Why?", max_chars=100)(Past((long, *turns_of(2, first=3))), 300).reason == "turn_too_large"


def test_a_question_too_long_for_pairs_is_refused_before_anything_is_chosen() -> None:
    with pytest.raises(PromptTooLong):
        pairs("x" * 6001)


def test_pairs_of_many_messages_are_limited_too() -> None:
    asked = said(1, "user", 0)
    answers = tuple(StoredMessage(number, "assistant", "a", 0) for number in range(2, 1002))
    assert pairs("Why?")(Past((StoredTurn((asked, *answers)),)), 300).turns == ()
