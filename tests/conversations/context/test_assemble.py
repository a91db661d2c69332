"""What the model sees: the rules, on any history."""

from itertools import count, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.assemble import as_turns, assemble
from conversations.context.record import LeftOut
from conversations.context.values import Assembly, Budget, Past, Role, StoredMessage, StoredTurn, SystemPrompt
from conversations.refusals import PromptTooLong

SYSTEM = "Be brief."
BUDGET = Budget(window=1000, reply=100, history=400)


def message(number: int, role: Role = "user", *, tokens: int = 10, text: str = "") -> StoredMessage:
    return StoredMessage(id=number, role=role, text=text or f"{role} {number}", tokens=tokens)


def history_of(*sizes: int) -> tuple[StoredTurn, ...]:
    """Turns of these sizes in tokens, half of each the question's."""
    numbers = count(1)
    return tuple(
        StoredTurn(
            (
                message(next(numbers), "user", tokens=size // 2),
                message(next(numbers), "assistant", tokens=size - size // 2),
            )
        )
        for size in sizes
    )


def assembled(history: tuple[StoredTurn, ...], *, tokens: int = 10, budget: Budget = BUDGET) -> Assembly:
    prompt = message(10_000, "user", tokens=tokens, text="Why?")
    return assemble(Past(history), prompt, system=SystemPrompt(SYSTEM, 5), budget=budget)


turns = st.lists(st.integers(min_value=2, max_value=300), max_size=12).map(lambda sizes: history_of(*sizes))
anything = st.lists(
    st.builds(
        StoredMessage,
        id=st.integers(min_value=1),
        role=st.sampled_from(["system", "user", "assistant", "tool"]),
        text=st.text(max_size=5),
        tokens=st.integers(min_value=0, max_value=500),
    ),
    max_size=20,
)


def test_system_prompt_first_then_the_turns_then_the_question() -> None:
    request = assembled(history_of(20, 20)).request
    assert [(sent.role, sent.text) for sent in request.messages] == [
        ("system", SYSTEM),
        ("user", "user 1"),
        ("assistant", "assistant 2"),
        ("user", "user 3"),
        ("assistant", "assistant 4"),
        ("user", "Why?"),
    ]
    assert request.max_tokens == BUDGET.reply


@given(turns)
def test_the_newest_turns_are_sent_whole_without_a_gap(history: tuple[StoredTurn, ...]) -> None:
    record = assembled(history).record
    ids = [stored.id for turn in history for stored in turn.messages]
    sent = list(record.sent[:-1])
    assert sent == ids[len(ids) - len(sent) :]
    assert [pk for span in record.left_out for pk in span.ids] == ids[: len(ids) - len(sent)]
    starts = {turn.messages[0].id for turn in history}
    assert not sent or sent[0] in starts


@given(turns)
def test_all_is_sent_while_it_fits_and_two_thirds_of_the_room_are_filled_when_it_does_not(
    history: tuple[StoredTurn, ...],
) -> None:
    """The same rule, written the simplest slow way."""
    sent = set(assembled(history).record.sent)
    whole = sum(turn.tokens for turn in history)
    room = BUDGET.history if whole <= BUDGET.history else BUDGET.history * 2 // 3
    if whole > BUDGET.history and history[-1].tokens > room:
        room = max(room, history[-1].tokens) if history[-1].tokens <= BUDGET.history else 0
    expected: list[StoredTurn] = []
    for turn in reversed(history):
        if sum(one.tokens for one in expected) + turn.tokens > room:
            break
        expected.append(turn)
    assert sent == {stored.id for turn in expected for stored in turn.messages} | {10_000}


@given(turns, st.integers(min_value=1, max_value=895))
def test_nothing_exceeds_its_budget(history: tuple[StoredTurn, ...], tokens: int) -> None:
    sizes = assembled(history, tokens=tokens).record.as_json()["sections"]
    assert sizes["window"] <= BUDGET.history
    assert sum(sizes.values()) + BUDGET.reply <= BUDGET.window


def test_a_turn_too_large_is_left_out_with_everything_before_it() -> None:
    record = assembled(history_of(10, 500, 10)).record
    assert record.sent == (5, 6, 10_000)
    assert record.left_out == (LeftOut((1, 2, 3, 4), "turn_too_large"),)


def test_a_question_that_cannot_fit_is_refused_with_its_size_and_the_limit() -> None:
    with pytest.raises(PromptTooLong) as refusal:
        assembled((), tokens=896)
    assert (refusal.value.size, refusal.value.limit, refusal.value.unit) == (896, 895, "tokens")


def test_a_question_that_just_fits_is_sent_alone() -> None:
    assert assembled(history_of(10), tokens=895).record.sent == (10_000,)


@given(anything)
def test_any_history_gives_a_valid_request(branch: list[StoredMessage]) -> None:
    roles = [sent.role for sent in assembled(as_turns(branch)).request.messages]
    texts = [sent.text for sent in assembled(as_turns(branch)).request.messages]
    assert roles[0] == "system"
    assert roles[1] == roles[-1] == "user"
    assert all(before != after for before, after in pairwise(roles))
    assert all(text.strip() for text in texts)


def test_two_questions_in_a_row_are_sent_as_one() -> None:
    failed = StoredTurn((message(1, "user", text="First?"),))
    request = assembled((failed,)).request
    assert [sent.text for sent in request.messages] == [SYSTEM, "First?\n\nWhy?"]


def test_what_stands_before_the_first_question_is_left_to_no_turn() -> None:
    branch = [message(1, "assistant"), message(2, "user"), message(3, "assistant"), message(4, "tool")]
    assert [[stored.id for stored in turn.messages] for turn in as_turns(branch)] == [[2, 3, 4]]


def test_without_a_system_prompt_none_is_sent() -> None:
    prompt = message(1, "user")
    request = assemble(Past(), prompt, system=SystemPrompt("  ", 0), budget=BUDGET).request
    assert [sent.role for sent in request.messages] == ["user"]
