"""How much of a window is summarised before it is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.values import Past, Summary
from conversations.context.windows import stepped
from conversations.summaries.spans import end_ahead
from tests.conversations.context.test_windows import ids_of, turns_of

sizes = st.lists(st.integers(min_value=0, max_value=160), max_size=12)


@given(sizes, st.integers(min_value=1, max_value=400), st.lists(st.integers(1, 24), max_size=3))
def test_the_oldest_turns_are_as_few_as_make_a_third(tokens: list[int], room: int, through: list[int]) -> None:
    turns = turns_of(*tokens)
    ends = {turn.ids[-1]: sum(tokens[: at + 1]) for at, turn in enumerate(turns[:-1])}
    large = [end for end, taken in ends.items() if 3 * taken >= room]
    is_prepared = any(
        end in through and 4 * taken >= room and 3 * (sum(tokens) - taken) >= room for end, taken in ends.items()
    )
    expected = None if is_prepared or not large or large[0] in through else large[0]
    if turns and tokens[-1] > room:
        newest = turns[-1].ids[-1]
        expected = None if newest in through else newest
    assert end_ahead(turns, room, through=through) == expected


@pytest.mark.parametrize(
    ("tokens", "through", "end"),
    [
        ((60, 60, 60, 60), (), 4),
        ((60, 60, 60, 60), (4,), None),
        ((80, 60, 60, 60), (2,), None),
        ((60, 60, 60, 60), (3,), 4),
        ((60, 60, 60, 60), (2,), 4),
        ((240,), (), None),
        ((10, 240), (), None),
        ((240, 10), (), 2),
        ((240, 10), (2,), None),
        ((), (), None),
    ],
)
def test_of_a_room_of_three_hundred(tokens: tuple[int, ...], through: tuple[int, ...], end: int | None) -> None:
    assert end_ahead(turns_of(*tokens), 300, through=through) == end


@given(st.lists(st.integers(min_value=5, max_value=60), min_size=30, max_size=80))
def test_a_window_is_cut_where_it_was_prepared_and_nothing_is_left_between(tokens: list[int]) -> None:
    """A conversation lived through, where each summary that is due is written before the next question."""
    history, room, start = turns_of(*tokens), 300, None
    written: list[int] = []
    for length in range(1, len(history) + 1):
        at = next((at for at, turn in enumerate(history) if start in turn.ids), 0)
        summaries = tuple(Summary(end, "Bees.", 5, through=end) for end in written)
        window = stepped(start)(Past(history[:length], summaries=summaries), room)
        start = ids_of(window)[0]
        if window.was_cut:
            assert start - 1 in written
            assert sum(turn.tokens for turn in window.turns) >= room // 3
        at = next(at for at, turn in enumerate(history) if start in turn.ids)
        held = history[at : length + 1]
        if 5 * sum(turn.tokens for turn in held) >= 4 * room:
            end = end_ahead(held, room, through=written)
            written += [end] if end else []
