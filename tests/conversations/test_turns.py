"""The life of a turn after it was asked: claimed, renewed, saved, ended."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from conversations import asking, turns
from conversations.models import Conversation, Message, Turn
from tests.factories import answer, ask, branch_texts, exchange, make_conversation
from tests.threads import with_own_connection

pytestmark = pytest.mark.django_db

LEASE = timedelta(seconds=15)


def test_one_worker_claims_a_turn(conversation: Conversation) -> None:
    turn = ask(conversation)
    first, second = turns.claim(turn.pk, lease=LEASE), turns.claim(turn.pk, lease=LEASE)
    assert first is not None
    assert first.status == Turn.Status.STREAMING
    assert second is None


def test_a_turn_ends_once(conversation: Conversation) -> None:
    turn = answer(ask(conversation), "First.")
    late = turns.finish(turn, turns.Outcome(Turn.Status.FAILED, [], error_code="dropped"))
    turn.refresh_from_db()
    assert not late
    assert turn.status == Turn.Status.COMPLETE
    assert branch_texts(conversation) == ["Why?", "First."]


def test_what_was_saved_while_streaming_is_replaced_by_the_end_not_doubled(conversation: Conversation) -> None:
    turn = ask(conversation)
    turns.claim(turn.pk, lease=LEASE)
    assert turns.save_partial(turn, [{"type": "text", "text": "Bec"}])
    assert branch_texts(conversation) == ["Why?", "Bec"]
    answer(turn, "Because.")
    assert branch_texts(conversation) == ["Why?", "Because."]


def test_the_tokens_of_an_answer_are_those_the_provider_reported(conversation: Conversation) -> None:
    turn = answer(ask(conversation), output_tokens=17, input_tokens=40)
    reply = Message.objects.get(turn=turn, role="assistant")
    assert (reply.tokens, reply.tokens_source) == (17, "usage")
    assert turn.input_tokens == 40


def test_without_a_report_the_tokens_are_an_estimate_and_say_so(conversation: Conversation) -> None:
    reply = Message.objects.get(turn=answer(ask(conversation)), role="assistant")
    assert reply.tokens > 0
    assert reply.tokens_source == "estimate"


def test_nothing_is_written_into_a_conversation_deleted_meanwhile(conversation: Conversation) -> None:
    turn = ask(conversation)
    turns.claim(turn.pk, lease=LEASE)
    Conversation.objects.filter(pk=conversation.pk).delete()
    assert not turns.save_partial(turn, [{"type": "text", "text": "Bec"}])
    assert not turns.finish(turn, turns.Outcome(Turn.Status.COMPLETE, [{"type": "text", "text": "Because."}]))
    assert not Message.objects.exists()


def test_a_failed_turn_leaves_the_question_and_the_next_one_follows_it(conversation: Conversation) -> None:
    answer(ask(conversation, "First?"), "", status=Turn.Status.FAILED, error_code="dropped")
    exchange(conversation, "Second?", "Yes.")
    assert branch_texts(conversation) == ["First?", "Second?", "Yes."]


@pytest.mark.parametrize("status", [Turn.Status.FAILED, Turn.Status.STOPPED, Turn.Status.INTERRUPTED])
def test_a_second_attempt_that_brings_nothing_leaves_the_first_answer(
    conversation: Conversation, status: Turn.Status
) -> None:
    turn = exchange(conversation)
    again = asking.retry(turn, request_key="again", model="openai:scripted").turn
    answer(again, "", status=status, error_code="dropped" if status == Turn.Status.FAILED else "")
    assert branch_texts(conversation) == ["Why?", "Because."]


def test_reasoning_is_kept_and_not_counted_to_what_is_sent_again(conversation: Conversation) -> None:
    turn = ask(conversation)
    turns.claim(turn.pk, lease=LEASE)
    content = [{"type": "thinking", "text": "Hm. " * 300}, {"type": "text", "text": "Yes."}]
    turns.finish(turn, turns.Outcome(Turn.Status.COMPLETE, content, output_tokens=900))
    reply = Message.objects.get(turn=turn, role="assistant")
    assert reply.text == "Yes."
    assert reply.tokens < 10
    assert reply.tokens_source == "estimate"


def test_whatever_is_stored_is_clean(conversation: Conversation) -> None:
    turn = ask(conversation, "a\x00b\ud800")
    answer(turn, "c\x00d\udfff")
    assert branch_texts(conversation) == ["ab\ufffd", "cd\ufffd"]


def test_stopping_a_queued_turn_ends_it_and_nobody_can_claim_it(conversation: Conversation) -> None:
    turn = ask(conversation)
    assert turns.request_stop(turn)
    assert turns.claim(turn.pk, lease=LEASE) is None
    turn.refresh_from_db()
    assert turn.status == Turn.Status.STOPPED


def test_stopping_twice_or_after_the_end_changes_nothing(conversation: Conversation) -> None:
    turn = ask(conversation)
    turns.claim(turn.pk, lease=LEASE)
    assert not turns.request_stop(turn)
    first = Turn.objects.values_list("stop_requested_at", flat=True).get(pk=turn.pk)
    assert not turns.request_stop(turn)
    assert Turn.objects.values_list("stop_requested_at", flat=True).get(pk=turn.pk) == first
    answer(turn)
    assert not turns.request_stop(turn)
    turn.refresh_from_db()
    assert turn.status == Turn.Status.COMPLETE


def test_renewing_tells_which_turns_are_alive_and_which_shall_stop(owner: User) -> None:
    going, stopping, ended = (ask(make_conversation(owner)) for _ in range(3))
    for turn in (going, stopping, ended):
        turns.claim(turn.pk, lease=timedelta(0))
    turns.request_stop(stopping)
    answer(ended)
    renewal = turns.renew([going.pk, stopping.pk, ended.pk, uuid4()], lease=LEASE)
    assert renewal.alive == {going.pk, stopping.pk}
    assert renewal.stopping == {stopping.pk}
    going.refresh_from_db()
    assert going.lease_until > timezone.now()


@pytest.mark.django_db(transaction=True)
def test_a_turn_that_somebody_holds_keeps_no_other_from_being_renewed(owner: User) -> None:
    held, free = (ask(make_conversation(owner)) for _ in range(2))
    for turn in (held, free):
        turns.claim(turn.pk, lease=timedelta(0))

    @with_own_connection
    def renew() -> turns.Renewal:
        return turns.renew([held.pk, free.pk], lease=LEASE)

    with ThreadPoolExecutor(1) as elsewhere, transaction.atomic():
        Conversation.objects.filter(pk=held.conversation_id).delete()
        assert elsewhere.submit(renew).result(timeout=5).alive == {held.pk, free.pk}
        transaction.set_rollback(True)
    renewed = Turn.objects.filter(lease_until__gt=timezone.now()).values_list("pk", flat=True)
    assert list(renewed) == [free.pk]


def test_activity_moves_with_messages_only(conversation: Conversation) -> None:
    exchange(conversation)
    conversation.refresh_from_db()
    then = conversation.last_activity_at
    conversation.pinned = True
    conversation.save()
    conversation.refresh_from_db()
    assert conversation.last_activity_at == then
    exchange(conversation)
    conversation.refresh_from_db()
    assert conversation.last_activity_at > then


def test_activity_moves_when_a_message_is_written_and_not_when_none_is(conversation: Conversation) -> None:
    turn = exchange(conversation)
    long_ago = timezone.now() - timedelta(days=90)
    Conversation.objects.update(last_activity_at=long_ago)
    again = asking.retry(turn, request_key="again", model="openai:scripted").turn
    answer(again, "", status=Turn.Status.FAILED, error_code="dropped")
    conversation.refresh_from_db()
    assert conversation.last_activity_at == long_ago
    later = asking.retry(turn, request_key="later", model="openai:scripted").turn
    turns.claim(later.pk, lease=LEASE)
    turns.save_partial(later, [{"type": "text", "text": "Be"}])
    conversation.refresh_from_db()
    assert conversation.last_activity_at > long_ago
