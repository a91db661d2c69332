"""The values a context is made of."""

import pytest

from conversations.context.values import Abilities, Budget, Past, Recollection, StoredMessage, StoredTurn
from tests.conversations.context.histories import said


def test_a_turn_is_complete_when_every_answer_came_to_its_end() -> None:
    question, whole = said(1, "user", 1), said(2, "assistant", 1)
    broken = said(3, "assistant", 1, complete=False)
    assert StoredTurn((question, whole)).is_complete
    assert not StoredTurn((question, whole, broken)).is_complete
    assert not StoredTurn((question, broken)).is_complete
    assert not StoredTurn((question,)).is_complete


def test_a_question_whose_own_turn_failed_is_answered_by_another() -> None:
    assert StoredTurn((said(1, "user", 1, complete=False), said(2, "assistant", 1))).is_complete


def test_half_a_turn_has_words() -> None:
    blank = StoredMessage(1, "user", " ", 1)
    assert Recollection(StoredTurn((blank, said(2, "assistant", 1))), 1).has_words
    assert Recollection(StoredTurn((said(1, "user", 1),)), 1).has_words
    assert not Recollection(StoredTurn((blank, StoredMessage(2, "assistant", " ", 1))), 1).has_words


def test_what_is_not_told_is_nothing() -> None:
    assert Abilities() == Abilities(tools=False, images=False)
    assert (Past().unread_tokens, Past().unread, Past().opening) == (0, None, ())
    budget = Budget(window=1, reply=1, history=1)
    assert (budget.retrieved, budget.system) == (0, 0)
    assert StoredMessage(1, "user", "", 1).is_complete


@pytest.mark.parametrize(("system", "largest"), [(50, 850), (900, 0), (2000, 0)])
def test_a_question_may_take_what_instructions_and_reply_leave(system: int, largest: int) -> None:
    assert Budget(window=1000, reply=100, history=1).largest_prompt(system=system) == largest


@pytest.mark.parametrize(("prompt", "room"), [(100, 400), (450, 300), (750, 0), (5000, 0)])
def test_earlier_turns_get_what_is_left_and_their_own_limit_at_most(prompt: int, room: int) -> None:
    budget = Budget(window=1000, reply=100, history=400, retrieved=100)
    assert budget.history_beside(system=50, prompt=prompt) == room


def test_all_that_can_be_cut_is_halved_when_a_provider_wants_less() -> None:
    tight = Budget(window=1000, reply=100, history=400, retrieved=200).tightened()
    assert (tight.history, tight.retrieved) == (200, 100)
    assert tight.window == 750
