"""Estimates get better with what was reported, and no single report ruins them."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.scale import MESSAGE, TOOLS, WORDS, Scale, Sums

anything = st.integers(min_value=0, max_value=10**7)


def taught(pairs: list[tuple[int, int, int]]) -> Scale:
    """Of (estimate, messages, reported)."""
    sums = Sums()
    for estimated, messages, reported in pairs:
        sums = sums.with_messages(estimated, messages, reported)
    return sums.scale


def test_what_was_never_compared_changes_no_estimate() -> None:
    assert Sums().scale == Scale()
    assert [Scale().of_message(size) for size in (0, 1, 500)] == [0, 1, 500]
    assert Scale().of_tools(500) == 500


@pytest.mark.parametrize(("words", "message"), [(1.0, 4), (2.0, 6), (0.55, 3), (1.3, 0)])
def test_tokenizer_and_template_are_told_apart(words: float, message: float) -> None:
    chance = random.Random(7)
    sizes = [chance.choice([5, 12, 30, 80, 400, 2000]) for _ in range(60)]
    scale = taught([(size, 1, round((words * size + message) * chance.uniform(0.92, 1.08))) for size in sizes])
    for size in (10, 200, 5000):
        assert scale.of_message(size) == pytest.approx(words * size + message, rel=0.08, abs=3)


def test_short_questions_alone_do_not_tell_of_long_ones_what_their_template_costs() -> None:
    scale = taught([(size, 1, size + 9) for size in (3, 4, 5, 8, 12)] * 6)
    assert scale.of_message(5) == pytest.approx(14, abs=2)
    assert scale.of_message(2000) < 2400


def test_a_first_comparison_moves_the_factors_only_part_of_the_way() -> None:
    assert 1 < taught([(100, 1, 200)]).words < 2


def test_an_accident_teaches_nothing() -> None:
    assert taught([(1000, 1, 5), (1000, 1, 90_000), (0, 0, 50)]) == Scale()


def test_a_model_that_changes_is_followed() -> None:
    before, after = [(200, 1, 200)] * 100, [(200, 1, 400)] * 100
    assert taught(before + after).of_message(200) == pytest.approx(400, rel=0.1)


def test_tools_have_a_factor_of_their_own() -> None:
    sums = Sums()
    for _ in range(10):
        sums = sums.with_tools(300, 450)
    assert sums.scale.of_tools(300) == pytest.approx(450, rel=0.05)
    assert sums.scale.words == 1


@given(st.lists(st.tuples(anything, st.integers(0, 3), anything), max_size=30), st.lists(st.tuples(anything, anything)))
def test_whatever_is_reported_the_factors_stay_within_bounds(
    pairs: list[tuple[int, int, int]], tools: list[tuple[int, int]]
) -> None:
    sums = Sums()
    for pair in pairs:
        sums = sums.with_messages(*pair)
    for estimated, reported in tools:
        sums = sums.with_tools(estimated, reported)
    scale = sums.scale
    assert WORDS[0] <= scale.words <= WORDS[1]
    assert MESSAGE[0] <= scale.message <= MESSAGE[1]
    assert TOOLS[0] <= scale.tools <= TOOLS[1]
    assert scale.of_message(1) >= 1
