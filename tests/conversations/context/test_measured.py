"""What a provider's figures say: the size of a question, and whether all of a request was read."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.measured import Before, Measured, is_truncated, question_size
from conversations.context.record import Recalled, Record, Section

THEN = Record((Section("system", 10), Section("window", 200), Section("prompt", 10)), (1, 2, 3), reported=230)
THEN = replace(THEN, beginning="a")
NOW = Record((Section("system", 10), Section("window", 260), Section("prompt", 12)), (1, 2, 3, 4, 5), beginning="a")
BEFORE = Before(THEN, answer=4, answer_tokens=50)


def size(reported: int | None = 295, *, before: Before | None = BEFORE, estimate: int = 12, **now: Any) -> int | None:
    return question_size(Measured(replace(NOW, **now), reported), before, estimate=estimate)


def then(**changes: Any) -> Before:
    return replace(BEFORE, record=replace(THEN, **changes))


def test_what_a_request_has_more_than_the_one_before_and_its_answer_is_the_question() -> None:
    assert size(295) == 295 - 230 - 50


def test_so_it_is_behind_the_same_summary() -> None:
    assert size(295, before=then(summary=7), summary=7) == 295 - 230 - 50
    assert size(295, before=then(summary=7), summary=8) is None


@pytest.mark.parametrize(
    "what",
    [
        {"reported": None},
        {"before": None},
        {"before": replace(BEFORE, answer_tokens=None)},
        {"before": replace(BEFORE, answer=9)},
        {"before": then(reported=None)},
        {"before": then(truncated=True)},
        {"before": then(beginning="b")},
        {"before": then(beginning=""), "beginning": ""},
        {"before": then(sent=(2, 3))},
        {"before": then(summary=7)},
        {"before": then(recalled=(Recalled((0,), 0.5),))},
        {"before": then(sections=(*THEN.sections, Section("rounds", 5)))},
        {"truncated": True},
        {"sent": (3, 4, 5)},
        {"sent": (1, 2, 3, 4, 4, 5)},
        {"summary": 7},
        {"recalled": (Recalled((0,), 0.5),)},
        {"sections": (*NOW.sections, Section("rounds", 5))},
        {"beginning": "b"},
    ],
)
def test_it_is_not_known_when_anything_else_may_have_changed(what: dict[str, Any]) -> None:
    assert size(**what) is None


@pytest.mark.parametrize(("reported", "estimate"), [(280, 12), (270, 12), (280 + 89, 12), (285, 100), (2800, 12)])
def test_a_figure_that_cannot_be_is_not_believed(reported: int, estimate: int) -> None:
    assert size(reported, estimate=estimate) is None


@given(st.integers(1, 10_000), st.integers(-20_000, 20_000))
def test_what_is_stored_as_measured_is_positive_and_near_the_estimate(estimate: int, difference: int) -> None:
    found = size(280 + difference, estimate=estimate)
    assert found is None or (found == difference and 0 < found <= 4 * estimate + 40 and found * 4 >= estimate)


def asked(tokens: int, reported: int | None, *, least: int | None = None, cached: int | None = None) -> Measured:
    record = replace(NOW, sections=(Section("window", tokens),))
    return Measured(record, reported, cached, least=tokens * 2 // 3 if least is None else least)


def earlier(tokens: int, reported: int | None, **changes: Any) -> Record:
    return replace(THEN, sections=(Section("window", tokens),), reported=reported, **changes)


def test_a_server_that_read_a_fraction_is_caught_at_once() -> None:
    assert is_truncated(asked(9000, 2000), None)
    assert is_truncated(asked(9000, 2000), earlier(8500, 8400))


def test_an_estimate_far_too_high_is_no_alarm() -> None:
    hindi = asked(9000, 9000 * 100 // 215, least=9000 * 2 // 5)
    assert not is_truncated(hindi, None)
    assert not is_truncated(asked(9000, 6100), None)
    assert not is_truncated(asked(250, 20, least=160), None)


def test_what_was_read_from_a_cache_was_read() -> None:
    assert not is_truncated(asked(9000, 500, cached=8400), None)
    assert is_truncated(asked(9000, 500, cached=1000), None)


def test_a_server_that_counts_only_what_is_new_is_no_alarm() -> None:
    before = earlier(8700, 8700)
    assert not is_truncated(asked(9000, 290), before)
    assert is_truncated(asked(9000, 4000), before)


def test_a_continuation_that_is_smaller_than_what_it_continues_was_cut() -> None:
    before = earlier(3000, 4000)
    assert is_truncated(asked(3900, 3700, least=2600), before)
    assert not is_truncated(asked(3900, 3950, least=2600), before)
    other = replace(before, beginning="b")
    assert not is_truncated(asked(3900, 3700, least=2600), other)
    assert not is_truncated(asked(3900, 3700, least=2600), replace(before, sent=(7, 8)))


def test_a_server_that_cuts_goes_on_to_until_it_reads_all_again() -> None:
    before = earlier(5000, 4000, truncated=True)
    assert is_truncated(asked(6000, 4050, least=3900), before)
    assert not is_truncated(asked(6000, 5900, least=3900), before)


def test_nothing_is_said_where_nothing_was_reported() -> None:
    assert not is_truncated(asked(9000, None), None)


def test_the_record_says_so_in_a_sentence_with_both_figures_and_keeps_it() -> None:
    record = replace(asked(8953, 2048).record, reported=2048, truncated=True)
    assert "read only about 2,000 of the 9,000 tokens" in record.warning
    assert Record.from_json(record.as_json()) == record
    assert replace(record, truncated=False).warning == ""
