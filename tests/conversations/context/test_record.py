"""The record of a request: what is stored is read back, and what cannot be read costs nobody a page."""

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.record import REASONS, LeftOut, Reason, Recalled, Record, Section, SectionName

numbers = st.integers(min_value=0, max_value=2**63 - 1)
ids = st.lists(numbers, min_size=1, max_size=4).map(tuple)


def in_order(sections: list[Section]) -> tuple[Section, ...]:
    """As a request has them; JSONB keeps no order."""
    names = get_args(SectionName)
    return tuple(sorted(sections, key=lambda one: names.index(one.name)))


records = st.builds(
    Record,
    sections=st.lists(
        st.builds(
            Section,
            name=st.sampled_from(get_args(SectionName)),
            tokens=numbers,
        ),
        unique_by=lambda one: one.name,
    ).map(in_order),
    sent=ids,
    left_out=st.lists(st.builds(LeftOut, ids, st.sampled_from(get_args(Reason)), st.booleans()), max_size=3).map(tuple),
    summary=st.none() | numbers,
    summarised_through=st.none() | numbers,
    recalled=st.lists(st.builds(Recalled, ids, st.floats(allow_nan=False, allow_infinity=False)), max_size=3).map(
        tuple
    ),
    was_cut=st.booleans(),
    was_tightened=st.booleans(),
    shortened=numbers,
    images_left_out=numbers,
    window=numbers,
    instructions=st.text(max_size=5),
    beginning=st.text(max_size=5),
    reported=st.none() | numbers,
    truncated=st.booleans(),
    reply=numbers,
    history=numbers,
)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
garbage = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner))
KEYS = [*Record(sections=(), sent=(1,)).as_json()]


@given(records)
def test_what_is_stored_is_read_back(record: Record) -> None:
    assert Record.from_json(json.loads(json.dumps(record.as_json()))) == record


@given(garbage)
def test_garbage_is_no_record(stored: Any) -> None:
    assert Record.from_json(stored) is None


@given(records, st.dictionaries(st.sampled_from(KEYS), garbage, min_size=1))
def test_what_is_read_of_a_damaged_record_is_sound(record: Record, damage: dict[str, Any]) -> None:
    """Either nothing, or ids that the database takes and reasons that have words."""
    found = Record.from_json(record.as_json() | damage)
    if found is None:
        return
    spans = [found.sent, *(one.ids for one in found.left_out), *(one.ids for one in found.recalled)]
    for number in [one for span in spans for one in span] + [found.window, found.reply, found.history]:
        assert type(number) is int
        assert -(2**63) <= number < 2**63
    assert all(one.reason in REASONS for one in found.left_out)
    assert found.start == found.sent[0]
    assert found.tokens >= 0
    assert found.as_json()


@pytest.mark.parametrize("sent", [[], "12", [None], ["1"], [True], [1.0], [2**63], {"1": 2}, 5])
def test_ids_that_are_none_make_no_record(sent: Any) -> None:
    assert Record.from_json({"sections": {}, "sent": sent}) is None


def test_a_record_of_the_first_version_is_read() -> None:
    first = {"sections": {"system": 4, "window": 20}, "sent": [3, 4, 5], "left_out": [1, 2], "reason": "history_budget"}
    record = Record.from_json(first)
    assert record is not None
    assert (record.start, record.tokens, record.left_out) == (3, 24, (LeftOut((1, 2), "history_budget"),))
    assert Record.from_json(first | {"left_out": [], "reason": ""}) == Record(
        sections=(Section("system", 4), Section("window", 20)), sent=(3, 4, 5)
    )


def test_what_a_later_version_adds_is_passed_over() -> None:
    assert Record.from_json(Record(sections=(), sent=(1,)).as_json() | {"new": 1}) == Record(sections=(), sent=(1,))


@pytest.mark.parametrize(
    ("left_out", "reason"),
    [
        ((), None),
        ((LeftOut((1,), "turn_too_large"),), "turn_too_large"),
        ((LeftOut((1,), "no_question"), LeftOut((2,), "history_budget")), "history_budget"),
        ((LeftOut((1,), "pair_limit"), LeftOut((4,), "not_complete")), "pair_limit"),
        ((LeftOut((4,), "not_complete"),), None),
    ],
)
def test_it_says_why_the_window_did_not_begin_earlier(left_out: tuple[LeftOut, ...], reason: str | None) -> None:
    assert Record(sections=(), sent=(5,), left_out=left_out).reason == reason


def test_sizes_are_found_by_name_and_in_all() -> None:
    record = Record(sections=(Section("system", 4), Section("window", 20)), sent=(1,))
    assert (record.tokens, record.tokens_of("window"), record.tokens_of("recalled")) == (24, 20, 0)


def test_every_reason_has_words_for_people() -> None:
    assert set(REASONS) == set(get_args(Reason))
    assert all(words.endswith(".") for words in REASONS.values())


def test_it_is_stored_with_its_start() -> None:
    assert Record(sections=(), sent=(7, 8)).as_json()["start"] == 7


def test_what_an_old_record_does_not_tell_is_nothing() -> None:
    record = Record.from_json({"sections": {}, "sent": [1], "left_out": None, "recalled": None})
    assert record is not None
    assert (record.left_out, record.recalled, record.summary, record.summarised_through) == ((), (), None, None)
    assert (record.was_cut, record.was_tightened, record.shortened, record.images_left_out) == (False, False, 0, 0)
    assert (record.window, record.reply, record.history) == (0, 0, 0)


@pytest.mark.parametrize(
    "damage",
    [
        {"sections": {"unheard_of": 1}},
        {"sections": {"window": "1"}},
        {"left_out": [{"ids": [1], "reason": "unheard of"}]},
        {"left_out": [{"ids": [1]}]},
        {"recalled": [{"ids": [1]}]},
        {"sent": [-(2**63) - 1]},
    ],
)
def test_what_a_page_could_not_show_is_no_record(damage: dict[str, Any]) -> None:
    whole = {"sections": {"window": 1}, "sent": [1]}
    assert Record.from_json(whole) is not None
    assert Record.from_json(whole | damage) is None


@pytest.mark.parametrize("number", [-(2**63), 2**63 - 1])
def test_every_id_the_database_has_is_read(number: int) -> None:
    assert Record.from_json({"sections": {}, "sent": [number]}) == Record(sections=(), sent=(number,))
