"""Questions become turns: asked for the first time, asked again, never stored twice."""

from uuid import uuid4

import pytest
from django.http import Http404
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User
from conversations import asking
from conversations.models import Conversation, Message, Turn
from conversations.refusals import ConversationBusy, NewerMessages, TooManyReplies
from tests.factories import answer, ask, branch_texts, exchange, make_conversation, make_user
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def ask_with(conversation: Conversation, *, key: str, parent_id: int | None = None) -> asking.Asked:
    return asking.ask(conversation.pk, text="Why?", request_key=key, parent_id=parent_id, model="openai:scripted")


def test_a_question_is_stored_with_its_turn_and_becomes_the_head(conversation: Conversation) -> None:
    turn = ask(conversation, "Why is the sky blue?")
    conversation.refresh_from_db()
    assert turn.status == Turn.Status.QUEUED
    assert conversation.head == turn.prompt
    assert turn.prompt.text == "Why is the sky blue?"
    assert turn.prompt.tokens > 0
    assert turn.prompt.tokens_source == "estimate"


def test_the_same_key_names_the_same_turn_even_after_its_end(conversation: Conversation) -> None:
    first = ask_with(conversation, key="once")
    again = ask_with(conversation, key="once")
    answer(first.turn)
    later = ask_with(conversation, key="once")
    assert (first.is_new, again.is_new, later.is_new) == (True, False, False)
    assert first.turn.pk == again.turn.pk == later.turn.pk
    assert Message.objects.filter(role="user").count() == 1


def test_the_same_key_begins_one_conversation(owner: User) -> None:
    first = asking.start(owner, text="Why?", request_key="once", model="openai:scripted")
    again = asking.start(owner, text="Why?", request_key="once", model="openai:scripted")
    assert first.turn == again.turn
    assert Conversation.objects.count() == 1


def test_the_same_key_of_two_people_begins_two_conversations(owner: User, stranger: User) -> None:
    mine = asking.start(owner, text="Why?", request_key="once", model="openai:scripted")
    theirs = asking.start(stranger, text="Why?", request_key="once", model="openai:scripted")
    assert mine.turn.conversation_id != theirs.turn.conversation_id


def test_a_second_question_waits_for_the_first(conversation: Conversation) -> None:
    live = ask(conversation)
    with pytest.raises(ConversationBusy) as refusal:
        ask_with(conversation, key="two", parent_id=live.prompt_id)
    assert refusal.value.turn_id == live.pk


def test_a_question_behind_an_old_message_is_refused_and_nothing_is_lost(conversation: Conversation) -> None:
    first = exchange(conversation)
    seen = Conversation.objects.get(pk=conversation.pk).head_id
    exchange(conversation, "And why that?", "For good reasons.")
    before = branch_texts(conversation)
    with pytest.raises(NewerMessages):
        ask_with(conversation, key="stale", parent_id=seen)
    assert branch_texts(conversation) == before
    assert first.prompt.text == before[0]


def test_a_question_in_a_conversation_that_is_gone_makes_nothing(conversation: Conversation) -> None:
    conversation.trashed_at = timezone.now()
    conversation.save()
    with pytest.raises(Http404):
        ask_with(conversation, key="late")
    with pytest.raises(Http404):
        asking.ask(uuid4(), text="Why?", request_key="x", parent_id=None, model="openai:scripted")
    assert not Message.objects.exists()


def test_the_first_question_gives_the_title_and_the_owners_title_stays(owner: User) -> None:
    asked = asking.start(owner, text="# Bees and **flowers**", request_key="1", model="openai:scripted")
    found = Conversation.objects.get(pk=asked.turn.conversation_id)
    assert (found.title, found.title_source) == ("Bees and flowers", "fallback")
    named = make_conversation(owner, title="Mine", title_source="user")
    exchange(named, "Something else")
    named.refresh_from_db()
    assert (named.title, named.title_source) == ("Mine", "user")


def test_an_ended_turn_is_tried_again_beside_its_first_answer(conversation: Conversation) -> None:
    turn = answer(ask(conversation), "Becau", status=Turn.Status.STOPPED)
    again = asking.retry(turn, request_key="again", model="openai:scripted")
    twice = asking.retry(turn, request_key="again", model="openai:scripted")
    assert again.turn == twice.turn
    answer(again.turn, "Because.")
    assert branch_texts(conversation) == ["Why?", "Because."]
    assert Message.objects.filter(parent=turn.prompt).count() == 2


def test_a_live_turn_is_not_tried_again(conversation: Conversation) -> None:
    turn = ask(conversation)
    with pytest.raises(ConversationBusy):
        asking.retry(turn, request_key="again", model="openai:scripted")


@pytest.mark.django_db(transaction=True)
def test_of_many_questions_at_once_one_runs(conversation: Conversation) -> None:
    def attempt(number: int) -> str:
        try:
            ask_with(conversation, key=f"key {number}")
        except ConversationBusy:
            return "busy"
        return "asked"

    results = at_once(attempt, range(16))
    assert sorted(results) == ["asked"] + ["busy"] * 15
    assert Message.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_question_sent_many_times_at_once_is_stored_once(conversation: Conversation) -> None:
    results = at_once(lambda _: ask_with(conversation, key="once"), range(16))
    assert len({asked.turn.pk for asked in results}) == 1
    assert sum(asked.is_new for asked in results) == 1


@pytest.mark.django_db(transaction=True)
def test_a_first_question_sent_many_times_at_once_begins_one_conversation() -> None:
    person = make_user()

    def attempt(_: int) -> asking.Asked:
        return asking.start(person, text="Why?", request_key="once", model="openai:scripted")

    results = at_once(attempt, range(16))
    assert len({asked.turn.pk for asked in results}) == 1
    assert Conversation.objects.count() == 1


def test_one_person_has_only_so_many_replies_at_once(owner: User, stranger: User, settings: Settings) -> None:
    settings.POCKETCHAT_REPLIES_A_PERSON = 2
    mine = [ask(make_conversation(owner)) for _ in range(2)]
    with pytest.raises(TooManyReplies):
        ask(make_conversation(owner))
    assert ask(make_conversation(stranger)).status == Turn.Status.QUEUED
    answer(mine[0])
    assert ask(make_conversation(owner)).status == Turn.Status.QUEUED


@pytest.mark.django_db(transaction=True)
def test_questions_sent_at_once_into_many_conversations_keep_to_the_limit(owner: User, settings: Settings) -> None:
    settings.POCKETCHAT_REPLIES_A_PERSON = 3

    def attempt(conversation: Conversation) -> str:
        try:
            ask_with(conversation, key="once")
        except TooManyReplies:
            return "refused"
        return "asked"

    results = at_once(attempt, [make_conversation(owner) for _ in range(12)])
    assert sorted(results) == ["asked"] * 3 + ["refused"] * 9
