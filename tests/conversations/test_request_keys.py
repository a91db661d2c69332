"""A request key names one request: the same words in the same place, or the same question answered again."""

import pytest

from accounts.models import User
from conversations import asking, branches
from conversations.beginnings import begin
from conversations.models import Conversation, Turn
from conversations.refusals import KeyReused
from tests.factories import answer, exchange, regenerate, reply_of

pytestmark = pytest.mark.django_db


def send(conversation: Conversation, parent_id: int | None, *, is_branch: bool = False) -> asking.Asked:
    return asking.ask(
        conversation.pk, text="And?", request_key="k", parent_id=parent_id, model="openai:scripted", is_branch=is_branch
    )


def again(turn: Turn, key: str) -> asking.Asked:
    return asking.retry(turn, request_key=key, model="openai:scripted")


@pytest.mark.parametrize("is_branch", [False, True])
def test_the_same_words_behind_another_message_are_another_request(conversation: Conversation, is_branch: bool) -> None:
    first = exchange(conversation, "One?", "First.")
    second = exchange(conversation, "Two?", "Second.")
    asked = send(conversation, reply_of(second).pk, is_branch=is_branch)
    answer(asked.turn)
    for parent_id in (None, first.prompt_id, reply_of(first).pk, 10**12):
        with pytest.raises(KeyReused):
            send(conversation, parent_id, is_branch=is_branch)
    assert send(conversation, reply_of(second).pk, is_branch=is_branch).turn == asked.turn


def test_the_same_words_behind_another_reply_to_the_same_question_are_another_request(
    conversation: Conversation,
) -> None:
    first = exchange(conversation)
    second = regenerate(first, "A2")
    send(conversation, reply_of(second).pk)
    with pytest.raises(KeyReused):
        send(conversation, reply_of(first).pk, is_branch=True)


def test_a_message_of_another_conversation_is_no_place_of_this_one(conversation: Conversation, owner: User) -> None:
    first = exchange(conversation)
    send(conversation, reply_of(first).pk)
    elsewhere = exchange(Conversation.objects.create(owner=owner, request_key="other"))
    with pytest.raises(KeyReused):
        send(conversation, reply_of(elsewhere).pk)


def test_a_question_sent_again_from_a_page_that_shows_it_already_is_the_same(conversation: Conversation) -> None:
    first = exchange(conversation)
    asked = send(conversation, reply_of(first).pk)
    assert send(conversation, asked.turn.prompt_id).turn == asked.turn
    answer(asked.turn)
    assert send(conversation, reply_of(asked.turn).pk).turn == asked.turn
    later = exchange(conversation, "Later?")
    assert send(conversation, reply_of(later).pk).turn == asked.turn


def test_a_branch_of_one_who_saw_no_reply_is_the_same_when_there_is_another_by_now(conversation: Conversation) -> None:
    first = exchange(conversation)
    asked = send(conversation, first.prompt_id, is_branch=True)
    answer(asked.turn)
    regenerate(first, "A2")
    assert send(conversation, first.prompt_id, is_branch=True).turn == asked.turn


def test_an_edit_of_another_question_is_another_request(conversation: Conversation) -> None:
    first = exchange(conversation, "One?")
    second = exchange(conversation, "Two?")
    answer(branches.edit(second.prompt, text="Else?", request_key="e", model="openai:scripted").turn)
    with pytest.raises(KeyReused):
        branches.edit(first.prompt, text="Else?", request_key="e", model="openai:scripted")
    assert not branches.edit(second.prompt, text="Else?", request_key="e", model="openai:scripted").is_new


def test_a_retry_is_the_same_when_the_question_was_handed_to_it(conversation: Conversation) -> None:
    first = exchange(conversation, "And?", "A1")
    second = answer(again(first, "k").turn, "A2")
    branches.remove(conversation.pk, reply_of(first).pk)
    second.refresh_from_db()
    repeated = again(second, "k")
    assert (repeated.turn, repeated.is_new) == (second, False)
    with pytest.raises(KeyReused):
        send(conversation, None)


def test_what_was_changed_since_does_not_make_a_repetition_another_request(owner: User) -> None:
    made, _ = begin(owner, request_key="k", system_prompt="A", pinned=False)
    Conversation.objects.filter(pk=made.pk).update(system_prompt="B", pinned=True)
    assert begin(owner, request_key="k", system_prompt="A", pinned=False) == (made, False)
    with pytest.raises(KeyReused):
        begin(owner, request_key="k", system_prompt="B", pinned=True)
