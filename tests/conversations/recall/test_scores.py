"""Words and meaning, brought to one scale and added: pure figures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from conversations.recall.scores import Candidates, along_branch, best_of, by_words, relevance, standardised

says = arrays.arrays(np.bool_, st.tuples(st.integers(0, 12), st.integers(0, 5)))
cosines = st.floats(-1, 1) | st.just(float("nan"))


def said(*rows: str) -> "np.typing.NDArray[np.bool_]":
    return np.array([[mark == "x" for mark in row] for row in rows])


def test_a_rare_word_tells_more_than_a_common_one() -> None:
    scores = by_words(said("x.", ".x", "x.", "x."), borrowed=0)
    assert scores[1] > scores[0]


def test_a_message_borrows_a_word_from_those_beside_it_once() -> None:
    own, beside, both, far = by_words(said("x", ".", "x", ".", ".", ".", "."))[[0, 3, 1, 5]]
    assert own > beside > far == 0
    assert beside == both == pytest.approx(0.4 * own)


def test_a_word_of_ones_own_is_not_worth_more_for_being_said_beside_it() -> None:
    assert by_words(said("x", "x", ".", "."))[0] == by_words(said("x", ".", "x", "."))[0]


@given(says)
def test_words_score_each_message_and_never_below_zero(words: "np.typing.NDArray[np.bool_]") -> None:
    scores = by_words(words)
    assert scores.shape == (len(words),)
    assert (scores >= 0).all()


@given(says, st.randoms())
def test_the_order_of_the_questions_words_does_not_matter(words: "np.typing.NDArray[np.bool_]", random: object) -> None:
    order = list(range(words.shape[1]))
    random.shuffle(order)  # type: ignore[attr-defined]  # hypothesis' own
    assert by_words(words[:, order]) == pytest.approx(by_words(words))


@given(says)
def test_a_branch_read_backwards_scores_the_same(words: "np.typing.NDArray[np.bool_]") -> None:
    """A message's place says nothing: what is beside it counts alike on either side."""
    assert by_words(words[::-1]) == pytest.approx(by_words(words)[::-1])


@given(st.lists(cosines, max_size=20))
def test_scores_on_one_scale_are_numbers_and_what_is_unknown_is_average(values: list[float]) -> None:
    scores = standardised(np.array(values, dtype=np.float64))
    assert np.isfinite(scores).all()
    assert not scores[np.isnan(values)].any() if values else scores.size == 0
    assert abs(scores.sum()) < 1e-6
    assert (scores**2).sum() <= len(scores) + 1e-6


@given(st.lists(cosines, min_size=2, max_size=20), st.integers(0, 2**32 - 1))
def test_the_scale_does_not_depend_on_the_order_of_rows(values: list[float], seed: int) -> None:
    likeness = np.array(values, dtype=np.float64)
    order = np.random.default_rng(seed).permutation(len(likeness))
    assert standardised(likeness)[order] == pytest.approx(standardised(likeness[order]), abs=1e-6)


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=1, max_size=30), st.integers(1, 30))
def test_the_best_are_those_that_a_sort_puts_first(values: list[float], most: int) -> None:
    scores = np.array(values)
    assert best_of(scores, most=most).tolist() == np.argsort(-scores, kind="stable")[:most].tolist()


def test_where_no_vector_is_known_the_words_decide() -> None:
    found = Candidates(np.arange(3), said(".", "x", "."), np.full(3, np.nan))
    assert relevance(found).argmax() == 1


def test_where_no_word_is_said_the_meaning_decides() -> None:
    found = Candidates(np.arange(3), said(".", ".", "."), np.array([0.1, 0.2, 0.9]))
    assert relevance(found).argmax() == 2


@given(st.lists(st.integers(0, 10), max_size=30), st.data())
def test_a_branch_is_the_way_from_its_head_to_the_root(steps: list[int], data: st.DataObject) -> None:
    """Ids with gaps, each parent among the earlier ones, as the table has them."""
    ids = [10 * at + 1 for at in range(len(steps))]
    parents = [0 if at == 0 or step == 10 else ids[step % at] for at, step in enumerate(steps)]
    head = data.draw(st.sampled_from([*ids, 5]))
    expected, at = [], head if head in ids else 0
    while at:
        expected.append(at)
        at = parents[ids.index(at)]
    places = along_branch(np.array(ids, dtype=np.int64), np.array(parents, dtype=np.int64), head)
    assert [ids[place] for place in places] == expected[::-1]
