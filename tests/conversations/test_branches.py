"""Branches: editing, regenerating, going from one version to another, deleting one."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.http import Http404
from django.utils import timezone

from conversations import asking, branches, history, tree, turns
from conversations.models import Conversation, Message, ModelCall, Turn
from conversations.refusals import ConversationBusy, NewerMessages, NoOtherVersion, NotEditable
from conversations.streams import Shown
from conversations.tree import Siblings
from tests.factories import (
    answer,
    ask,
    branch_texts,
    edit,
    exchange,
    make_conversation,
    make_user,
    regenerate,
    reply_of,
)
from tests.threads import at_once

pytestmark = pytest.mark.django_db

LEASE = timedelta(seconds=15)


def siblings(message: Message) -> Siblings:
    versions = tree.children_of(message.conversation, {message.parent_id})[message.parent_id]
    return tree.siblings_of(message.pk, versions)


def go(conversation: Conversation, message: Message) -> list[str]:
    branches.switch(conversation.pk, message.pk)
    return branch_texts(conversation)


def ask_behind(conversation: Conversation, parent_id: int | None, text: str = "Else?", key: str = "") -> asking.Asked:
    return asking.ask(
        conversation.pk,
        text=text,
        request_key=key or str(uuid4()),
        parent_id=parent_id,
        model="openai:scripted",
        is_branch=True,
    )


def test_an_edited_question_is_a_sibling_and_both_branches_stay(conversation: Conversation) -> None:
    exchange(conversation, "One?", "First.")
    second = exchange(conversation, "Two?", "Second.")
    exchange(conversation, "Three?", "Third.")
    edited = edit(second.prompt, "Two, please?", "Gladly.")
    assert branch_texts(conversation) == ["One?", "First.", "Two, please?", "Gladly."]
    assert siblings(edited.prompt) == Siblings(position=2, count=2, previous=second.prompt_id, next=None)
    assert go(conversation, second.prompt) == ["One?", "First.", "Two?", "Second.", "Three?", "Third."]


def test_the_first_question_is_edited_too(conversation: Conversation) -> None:
    first = exchange(conversation, "One?", "First.")
    edit(first.prompt, "Uno?", "Primo.")
    assert branch_texts(conversation) == ["Uno?", "Primo."]
    assert go(conversation, first.prompt) == ["One?", "First."]


def test_three_regenerations_are_counted_and_the_first_reply_keeps_its_later_messages(
    conversation: Conversation,
) -> None:
    first = exchange(conversation, "Why?", "A1")
    exchange(conversation, "And?", "Later.")
    replies = [reply_of(first), *(reply_of(regenerate(first, f"A{number}")) for number in (2, 3, 4))]
    assert branch_texts(conversation) == ["Why?", "A4"]
    assert [siblings(reply).position for reply in replies] == [1, 2, 3, 4]
    assert {siblings(reply).count for reply in replies} == {4}
    assert go(conversation, replies[0]) == ["Why?", "A1", "And?", "Later."]
    assert go(conversation, replies[2]) == ["Why?", "A3"]
    assert go(conversation, replies[0]) == ["Why?", "A1", "And?", "Later."]


def test_a_branch_is_opened_where_it_was_left_not_at_its_newest_message(conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    second = exchange(conversation, "And?", "Old.")
    edit(second.prompt, "And then?", "New.")
    go(conversation, second.prompt)
    other = regenerate(first, "A2")
    assert go(conversation, reply_of(first)) == ["Why?", "A1", "And?", "Old."]
    assert go(conversation, reply_of(other)) == ["Why?", "A2"]


def test_going_to_where_one_is_changes_nothing(conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    exchange(conversation, "And?", "Later.")
    assert go(conversation, first.prompt) == ["Why?", "A1", "And?", "Later."]
    assert not Message.objects.exclude(resume_at=None).exists()


def test_a_message_one_has_come_through_leads_nowhere_else(conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    second = exchange(conversation, "And?", "Old.")
    edit(second.prompt, "And then?", "New.")
    go(conversation, second.prompt)
    assert go(conversation, first.prompt) == ["Why?", "A1", "And?", "Old."]


def test_nobody_goes_to_a_message_of_another_conversation(conversation: Conversation) -> None:
    exchange(conversation)
    elsewhere = exchange(make_conversation(make_user()))
    with pytest.raises(Http404):
        branches.switch(conversation.pk, elsewhere.prompt_id)


def test_going_elsewhere_is_no_activity(conversation: Conversation) -> None:
    first = exchange(conversation)
    edit(first.prompt, "Else?", "So.")
    conversation.refresh_from_db()
    then = conversation.last_activity_at
    branches.switch(conversation.pk, first.prompt_id)
    conversation.refresh_from_db()
    assert conversation.last_activity_at == then


def test_a_reply_goes_on_while_its_owner_is_on_another_branch(conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    live = regenerate(first)
    turns.claim(live.pk, lease=LEASE)
    assert go(conversation, reply_of(first)) == ["Why?", "A1"]
    assert turns.save_partial(live, [{"type": "text", "text": "A"}])
    assert branch_texts(conversation) == ["Why?", "A1"]
    with pytest.raises(ConversationBusy):
        ask(conversation)
    answer(Turn.objects.get(pk=live.pk), "A2")
    assert branch_texts(conversation) == ["Why?", "A1"]
    assert go(conversation, reply_of(live)) == ["Why?", "A2"]


def test_who_comes_back_to_a_reply_before_its_first_word_sees_it_arrive(conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    live = edit(first.prompt, "Why so?")
    go(conversation, first.prompt)
    assert go(conversation, live.prompt) == ["Why so?"]
    answer(live, "So.")
    assert branch_texts(conversation) == ["Why so?", "So."]


@pytest.mark.parametrize("status", [Turn.Status.FAILED, Turn.Status.STOPPED, Turn.Status.INTERRUPTED])
def test_a_regeneration_in_the_middle_that_brings_nothing_leads_back_to_where_one_was(
    conversation: Conversation, status: Turn.Status
) -> None:
    first = exchange(conversation, "Why?", "A1")
    exchange(conversation, "And?", "Later.")
    regenerate(first, "A2")
    go(conversation, reply_of(first))
    error = "dropped" if status == Turn.Status.FAILED else ""
    answer(regenerate(first), "", status=status, error_code=error)
    assert branch_texts(conversation) == ["Why?", "A1", "And?", "Later."]


def test_a_regeneration_stopped_before_it_began_leads_back_too(conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    exchange(conversation, "And?", "Later.")
    assert turns.request_stop(regenerate(first))
    assert branch_texts(conversation) == ["Why?", "A1", "And?", "Later."]


def test_attempts_without_a_message_are_no_versions(conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    answer(regenerate(first), "", status=Turn.Status.FAILED, error_code="dropped")
    second = regenerate(first, "A2")
    assert siblings(reply_of(second)).count == 2


def test_editing_the_question_that_is_being_answered_stops_the_reply_and_keeps_what_was_seen(
    conversation: Conversation,
) -> None:
    live = ask(conversation, "Why?")
    turns.claim(live.pk, lease=LEASE)
    turns.save_partial(live, [{"type": "text", "text": "Be"}])
    asked = branches.edit(
        live.prompt, text="Why so?", request_key="e", model="openai:scripted", shown=lambda _: Shown("Becau")
    )
    assert asked.stopped == live.pk
    live.refresh_from_db()
    assert live.status == Turn.Status.STOPPED
    assert reply_of(live).text == "Becau"
    assert reply_of(live).tokens > 0
    assert not turns.finish(live, turns.Outcome(Turn.Status.COMPLETE, [{"type": "text", "text": "Because."}]))
    assert turns.renew([live.pk], lease=LEASE).alive == frozenset()
    answer(asked.turn, "So.")
    assert branch_texts(conversation) == ["Why so?", "So."]
    assert go(conversation, live.prompt) == ["Why?", "Becau"]


def test_words_that_come_while_an_edit_waits_are_kept(conversation: Conversation) -> None:
    live = ask(conversation, "Why?")
    turns.claim(live.pk, lease=LEASE)
    told = iter(("Bec", "Because"))
    branches.edit(live.prompt, text="Why so?", request_key="e", model="m", shown=lambda _: Shown(next(told)))
    assert reply_of(live).text == "Because"
    assert reply_of(live).tokens > 0
    assert branch_texts(conversation) == ["Why so?"]


def test_what_was_seen_of_a_reply_that_began_while_an_edit_was_on_its_way_is_kept(conversation: Conversation) -> None:
    first = ask(conversation, "Why?")
    others: list[Turn] = []

    def shown(turn_id: UUID) -> Shown:
        """The reply that was running ends, and another attempt begins, before the edit holds the conversation."""
        if not others:
            answer(first, "A1")
            others.append(regenerate(first))
            turns.claim(others[0].pk, lease=LEASE)
        return Shown("Because" if turn_id == others[0].pk else "A1")

    asked = branches.edit(first.prompt, text="Why so?", request_key="e", model="m", shown=shown)
    assert asked.stopped == others[0].pk
    assert reply_of(others[0]).text == "Because"


def test_an_edited_version_that_was_deleted_at_once_keeps_nothing(conversation: Conversation) -> None:
    live = ask(conversation, "Why?")
    calls = iter((False, True))

    def shown(_: UUID) -> Shown:
        if next(calls):
            branches.remove(conversation.pk, live.prompt_id)
        return Shown("Because")

    branches.edit(live.prompt, text="Why so?", request_key="e", model="m", shown=shown)
    assert [message.text for message in Message.objects.all()] == ["Why so?"]


def test_the_same_edit_twice_is_one_and_stops_nothing_the_second_time(conversation: Conversation) -> None:
    first = exchange(conversation)
    once, again = (branches.edit(first.prompt, text="Else?", request_key="e", model="m") for _ in range(2))
    assert (once.is_new, again.is_new, again.stopped) == (True, False, None)
    assert once.turn == again.turn
    assert Turn.objects.live().get() == once.turn


def test_editing_an_earlier_question_waits_for_the_reply_to_a_later_one(conversation: Conversation) -> None:
    first = exchange(conversation)
    live = ask(conversation, "And?")
    with pytest.raises(ConversationBusy):
        edit(first.prompt, "Else?")
    live.refresh_from_db()
    assert live.is_live


def test_only_questions_are_edited(conversation: Conversation) -> None:
    with pytest.raises(NotEditable):
        edit(reply_of(exchange(conversation)), "Else?")


def test_a_stale_sender_may_branch_and_nothing_is_lost(conversation: Conversation) -> None:
    seen = reply_of(exchange(conversation, "One?", "First.")).pk
    later = exchange(conversation, "Two?", "Second.")
    with pytest.raises(NewerMessages):
        asking.ask(conversation.pk, text="Else?", request_key="k", parent_id=seen, model="m")
    asked = ask_behind(conversation, seen, key="k")
    assert ask_behind(conversation, seen, key="k").turn == asked.turn
    answer(asked.turn, "So.")
    assert branch_texts(conversation) == ["One?", "First.", "Else?", "So."]
    assert siblings(asked.turn.prompt).previous == later.prompt_id
    assert go(conversation, later.prompt)[2:] == ["Two?", "Second."]


def test_who_saw_a_question_without_its_reply_branches_behind_the_reply(conversation: Conversation) -> None:
    first = exchange(conversation, "One?", "First.")
    exchange(conversation, "Two?", "Second.")
    answer(ask_behind(conversation, first.prompt_id).turn, "So.")
    assert branch_texts(conversation) == ["One?", "First.", "Else?", "So."]


def test_a_question_hangs_off_the_end_of_a_reply_of_several_messages(conversation: Conversation) -> None:
    """As tools leave it: a call, its result, the text."""
    first = exchange(conversation, "One?", "Let me look.")
    parent = reply_of(first)
    for role, text in (("tool", "7"), ("assistant", "Seven.")):
        parent = Message.objects.create(
            conversation=conversation, turn=first, parent=parent, role=role, content=[{"type": "text", "text": text}]
        )
    Conversation.objects.filter(pk=conversation.pk).update(head=parent)
    exchange(conversation, "Two?", "Second.")
    answer(ask_behind(conversation, reply_of(first).pk).turn, "So.")
    assert branch_texts(conversation) == ["One?", "Let me look.", "7", "Seven.", "Else?", "So."]
    second = regenerate(first, "Eight.")
    assert siblings(reply_of(second)).count == 2
    branches.remove(conversation.pk, reply_of(first).pk)
    assert sorted(message.text for message in Message.objects.all()) == ["Eight.", "One?"]


def test_a_branch_behind_a_message_of_somebody_else_does_not_exist(conversation: Conversation) -> None:
    exchange(conversation)
    elsewhere = exchange(make_conversation(make_user()))
    with pytest.raises(Http404):
        ask_behind(conversation, elsewhere.prompt_id)
    assert Message.objects.filter(conversation=conversation).count() == 2


def test_a_branch_waits_for_a_running_reply(conversation: Conversation) -> None:
    ask(conversation)
    with pytest.raises(ConversationBusy):
        ask_behind(conversation, None)


def test_the_model_sees_the_chosen_branch(conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    exchange(conversation, "And?", "Later.")
    regenerate(first, "A2")
    live = ask(conversation, "Sure?")
    sent = [
        message.text
        for turn in history.past_of(live.prompt.parent_id, tokens=10_000).turns
        for message in turn.messages
    ]
    assert sent == ["Why?", "A2"]


def test_deleting_the_third_of_three_falls_back_to_the_second(conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    second, third = regenerate(first, "A2"), regenerate(first, "A3")
    ModelCall.objects.create(conversation=conversation, turn=third, purpose="reply", latency_ms=1)
    removed = branches.remove(conversation.pk, reply_of(third).pk)
    assert branch_texts(conversation) == ["Why?", "A2"]
    assert removed.head_id == reply_of(second).pk
    assert siblings(reply_of(second)).position == siblings(reply_of(second)).count == 2
    assert not Turn.objects.filter(pk=third.pk).exists()
    assert not ModelCall.objects.exists()


def test_deleting_the_second_of_three_falls_back_to_the_one_before(conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    second = regenerate(first, "A2")
    regenerate(first, "A3")
    go(conversation, reply_of(second))
    branches.remove(conversation.pk, reply_of(second).pk)
    assert branch_texts(conversation) == ["Why?", "A1"]


def test_deleting_the_first_reply_leaves_the_question_with_the_others(conversation: Conversation) -> None:
    """The question came with the turn that goes."""
    first = exchange(conversation, "Why?", "A1")
    exchange(conversation, "And?", "Later.")
    second = regenerate(first, "A2")
    branches.remove(conversation.pk, reply_of(first).pk)
    assert branch_texts(conversation) == ["Why?", "A2"]
    assert list(Turn.objects.all()) == [second]
    assert Message.objects.get(role="user").turn == second
    connection.check_constraints()


def test_deleting_a_question_takes_its_whole_branch_and_falls_back_to_where_the_neighbour_was_left(
    conversation: Conversation,
) -> None:
    first = exchange(conversation, "One?", "First.")
    exchange(conversation, "Two?", "Second.")
    edited = edit(first.prompt, "Uno?", "Primo.")
    exchange(conversation, "Due?", "Secondo.")
    branches.remove(conversation.pk, edited.prompt_id)
    assert branch_texts(conversation) == ["One?", "First.", "Two?", "Second."]
    assert Message.objects.count() == 4
    assert Turn.objects.count() == 2


def test_deleting_a_version_one_is_not_on_leaves_one_where_one_is(conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    second = regenerate(first, "A2")
    branches.remove(conversation.pk, reply_of(first).pk)
    assert branch_texts(conversation) == ["Why?", "A2"]
    assert siblings(reply_of(second)) == Siblings(position=1, count=1, previous=None, next=None)


def test_a_place_that_was_deleted_is_no_longer_remembered(conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    second = exchange(conversation, "And?", "Old.")
    newer = edit(second.prompt, "And then?", "New.")
    regenerate(first, "A2")
    branches.remove(conversation.pk, newer.prompt_id)
    connection.check_constraints()
    assert Message.objects.get(pk=reply_of(first).pk).resume_at is None
    assert go(conversation, reply_of(first)) == ["Why?", "A1", "And?", "Old."]


def test_the_only_version_goes_with_its_conversation_alone(conversation: Conversation) -> None:
    turn = exchange(conversation)
    for message in (turn.prompt, reply_of(turn)):
        with pytest.raises(NoOtherVersion):
            branches.remove(conversation.pk, message.pk)
    assert Message.objects.count() == 2


def test_a_live_reply_that_is_deleted_with_its_question_never_comes_back(conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    live = edit(first.prompt, "Why so?")
    turns.claim(live.pk, lease=LEASE)
    turns.save_partial(live, [{"type": "text", "text": "Be"}])
    assert branches.remove(conversation.pk, live.prompt_id).stopped == live.pk
    assert not turns.save_partial(live, [{"type": "text", "text": "Becau"}])
    assert not turns.finish(live, turns.Outcome(Turn.Status.COMPLETE, [{"type": "text", "text": "Because."}]))
    assert turns.renew([live.pk], lease=LEASE).alive == frozenset()
    assert branch_texts(conversation) == ["Why?", "A1"]
    assert exchange(conversation, "And?", "So.").status == Turn.Status.COMPLETE


def test_deleting_another_version_leaves_a_live_reply_alone(conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    regenerate(first, "A2")
    live = regenerate(first)
    assert branches.remove(conversation.pk, reply_of(first).pk).stopped is None
    answer(live, "A3")
    assert branch_texts(conversation) == ["Why?", "A3"]


def test_a_reply_regenerated_beside_a_question_that_followed_a_failure_is_found_from_either(
    conversation: Conversation,
) -> None:
    failed = answer(ask(conversation, "Why?"), "", status=Turn.Status.FAILED, error_code="dropped")
    follow_up = exchange(conversation, "Hello?", "Yes?")
    late = regenerate(failed, "Because.")
    assert branch_texts(conversation) == ["Why?", "Because."]
    assert siblings(reply_of(late)) == Siblings(position=2, count=2, previous=follow_up.prompt_id, next=None)
    assert go(conversation, follow_up.prompt) == ["Why?", "Hello?", "Yes?"]
    branches.remove(conversation.pk, reply_of(late).pk)
    assert branch_texts(conversation) == ["Why?", "Hello?", "Yes?"]


def test_a_branch_of_ten_thousand_messages_is_left_and_deleted_quickly(conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    second = regenerate(first, "A2")
    branches.switch(conversation.pk, reply_of(first).pk)
    head = long_branch(conversation, behind=reply_of(first), pairs=5_000)
    Conversation.objects.filter(pk=conversation.pk).update(head=head)
    # Autovacuum does this within a minute of so many rows; before it the planner takes the table for an empty one.
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE conversations_message, conversations_turn")
    began = timezone.now()
    branches.switch(conversation.pk, reply_of(second).pk)
    branches.switch(conversation.pk, reply_of(first).pk)
    went = timezone.now()
    branches.remove(conversation.pk, reply_of(first).pk)
    connection.check_constraints()
    assert went - began < timedelta(seconds=3)
    assert timezone.now() - went < timedelta(seconds=10)
    assert Message.objects.count() == 2
    assert list(Turn.objects.all()) == [second]


def long_branch(conversation: Conversation, *, behind: Message, pairs: int) -> Message:
    """Questions and replies in a row, written as one; returns the last."""
    now, first = timezone.now(), Message.objects.latest("pk").pk + 1
    ended = {"status": Turn.Status.COMPLETE, "finished_at": now, "lease_until": now, "conversation": conversation}
    made = [Turn(request_key=str(number), prompt_id=first + 2 * number, **ended) for number in range(pairs)]
    messages = [
        Message(pk=pk, conversation=conversation, turn=turn, role=role, parent_id=pk - 1)
        for number, turn in enumerate(made)
        for pk, role in ((first + 2 * number, "user"), (first + 2 * number + 1, "assistant"))
    ]
    messages[0].parent = behind
    Message.objects.bulk_create(messages)
    Turn.objects.bulk_create(made)
    connection.check_constraints()
    return messages[-1]


@pytest.mark.django_db(transaction=True)
def test_two_edits_of_one_question_at_once_are_two_versions(conversation: Conversation) -> None:
    first = exchange(conversation)

    made = at_once(lambda number: edit(first.prompt, f"Else {number}?"), range(8))
    assert Message.objects.filter(parent=None, role="user").count() == 9
    assert Turn.objects.filter(pk__in=[turn.pk for turn in made], status="stopped").count() == 7
    assert Turn.objects.live().count() == 1


@pytest.mark.django_db(transaction=True)
def test_asking_while_the_branch_is_switched_is_told_or_done_never_lost(conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    second = regenerate(first, "A2")

    def attempt(number: int) -> str:
        try:
            if number % 2:
                branches.switch(conversation.pk, reply_of(first).pk)
                return "went"
            asking.ask(conversation.pk, text="And?", request_key="k", parent_id=reply_of(second).pk, model="m")
        except NewerMessages:
            return "told"
        return "asked"

    results = at_once(attempt, range(8))
    asked = Message.objects.filter(parent=reply_of(second)).count()
    assert asked == ("asked" in results)
    assert branch_texts(conversation) == ["Why?", "A1"]


def test_a_question_behind_one_that_was_answered_later_is_edited_where_it_stands(conversation: Conversation) -> None:
    first = answer(ask(conversation, "One"), "", status=Turn.Status.FAILED, error_code="dropped")
    second = ask(conversation, "Two")
    answer(second, "To two.")
    regenerated = asking.retry(first, request_key="again", model="openai:scripted").turn
    answer(regenerated, "To one.")
    branches.switch(conversation.pk, second.prompt_id)
    asked = branches.edit(second.prompt, text="Two, edited", request_key="edit", model="openai:scripted")
    assert asked.turn.prompt.parent_id == second.prompt.parent_id == first.prompt_id
