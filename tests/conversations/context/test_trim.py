"""`trim`: the longest end within a budget that parts no call from its results."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from conversations.context.trim import trim
from conversations.context.values import StoredMessage
from conversations.providers.values import ToolCall, ToolResult
from tests.conversations.context.histories import broken_branches, said

budgets = st.integers(min_value=0, max_value=600)
cheap = broken_branches().map(lambda branch: [replace(message, tokens=message.tokens % 40) for message in branch])


def parts_a_call(messages: list[StoredMessage], begin: int) -> bool:
    """Whether a call stands before `begin` and its result behind it, with no call of that id between."""
    for at in range(begin, len(messages)):
        for result in messages[at].results:
            callers = [
                place for place in range(at + 1) if any(call.id == result.call_id for call in messages[place].calls)
            ]
            if callers and max(callers) < begin:
                return True
    return False


def slowly(messages: list[StoredMessage], budget: int) -> list[StoredMessage]:
    for begin in range(len(messages)):
        end = messages[begin:]
        is_allowed = end[0].role != "tool" and not parts_a_call(messages, begin)
        if is_allowed and sum(message.tokens for message in end) <= budget:
            return end
    return []


@given(cheap, budgets)
def test_it_is_the_longest_end_that_keeps_the_rules(branch: list[StoredMessage], budget: int) -> None:
    assert list(trim(branch, budget)) == slowly(branch, budget)


@given(cheap, budgets)
def test_it_is_an_end_within_the_budget_that_begins_with_no_result(branch: list[StoredMessage], budget: int) -> None:
    kept = list(trim(branch, budget))
    assert kept == branch[len(branch) - len(kept) :]
    assert sum(message.tokens for message in kept) <= budget
    assert not kept or kept[0].role != "tool"


@given(cheap, budgets)
def test_no_call_is_parted_from_its_results(branch: list[StoredMessage], budget: int) -> None:
    kept = trim(branch, budget)
    assert not parts_a_call(branch, len(branch) - len(kept))


def asks(number: int, *ids: str) -> StoredMessage:
    return StoredMessage(number, "assistant", "", 10, calls=tuple(ToolCall(one, "look", "{}") for one in ids))


def brings(number: int, *ids: str) -> StoredMessage:
    return StoredMessage(number, "tool", "", 10, results=tuple(ToolResult(one, "look", "saw") for one in ids))


def test_a_call_that_does_not_fit_takes_its_results_with_it() -> None:
    branch = [said(1, "user", 10), asks(2, "a"), brings(3, "a"), said(4, "assistant", 10)]
    assert trim(branch, 20) == (branch[3],)
    assert trim(branch, 29) == (branch[3],)
    assert trim(branch, 30) == tuple(branch[1:])
    assert trim(branch, 40) == tuple(branch)


def test_results_that_come_in_several_messages_stay_with_their_call() -> None:
    branch = [asks(1, "a", "b"), brings(2, "b"), said(3, "user", 10), brings(4, "a"), said(5, "assistant", 10)]
    assert trim(branch, 40) == (branch[4],)
    assert trim(branch, 50) == tuple(branch)


def test_ids_that_repeat_belong_to_the_call_before_them() -> None:
    branch = [asks(1, "a"), brings(2, "a"), asks(3, "a"), brings(4, "a")]
    assert trim(branch, 20) == (branch[2], branch[3])


def test_a_result_that_stands_before_its_call_parts_nothing() -> None:
    branch = [said(1, "user", 10), brings(2, "a"), asks(3, "a")]
    assert trim(branch, 30) == tuple(branch)
    assert trim(branch, 20) == (branch[2],)


def test_what_is_larger_than_the_budget_hides_what_stands_before_it() -> None:
    branch = [said(1, "user", 1), said(2, "user", 100), said(3, "user", 1)]
    assert trim(branch, 50) == (branch[2],)
    assert trim(branch[:2], 50) == ()


def test_nothing_fits_into_nothing() -> None:
    assert trim([said(1, "user", 1)], 0) == ()
    assert trim([], 10) == ()
