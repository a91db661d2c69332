"""The life of a turn: asked, claimed, renewed, ended."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from uuid import uuid4

import pytest
from django.db import connection, connections, transaction
from django.http import Http404
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User
from conversations import turns
from conversations.models import Conversation, Message, Turn
from conversations.refusals import ConversationBusy, NewerMessages, TooManyReplies
from conversations.streams import Shown
from pocketchat.embedded.process import wait_until
from tests.factories import answer, ask, branch_texts, exchange, make_conversation, make_user

pytestmark = pytest.mark.django_db

LEASE = timedelta(seconds=15)


def ask_with(conversation: Conversation, *, key: str, parent_id: int | None = None) -> turns.Asked:
    return turns.ask(conversation.pk, text="Why?", request_key=key, parent_id=parent_id, model="openai:scripted")


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
    first = turns.start(owner, text="Why?", request_key="once", model="openai:scripted")
    again = turns.start(owner, text="Why?", request_key="once", model="openai:scripted")
    assert first.turn == again.turn
    assert Conversation.objects.count() == 1


def test_the_same_key_of_two_people_begins_two_conversations(owner: User, stranger: User) -> None:
    mine = turns.start(owner, text="Why?", request_key="once", model="openai:scripted")
    theirs = turns.start(stranger, text="Why?", request_key="once", model="openai:scripted")
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
        turns.ask(uuid4(), text="Why?", request_key="x", parent_id=None, model="openai:scripted")
    assert not Message.objects.exists()


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


def test_an_ended_turn_is_tried_again_beside_its_first_answer(conversation: Conversation) -> None:
    turn = answer(ask(conversation), "Becau", status=Turn.Status.STOPPED)
    again = turns.retry(turn, request_key="again", model="openai:scripted")
    twice = turns.retry(turn, request_key="again", model="openai:scripted")
    assert again.turn == twice.turn
    answer(again.turn, "Because.")
    assert branch_texts(conversation) == ["Why?", "Because."]
    assert Message.objects.filter(parent=turn.prompt).count() == 2


@pytest.mark.parametrize("status", [Turn.Status.FAILED, Turn.Status.STOPPED, Turn.Status.INTERRUPTED])
def test_a_second_attempt_that_brings_nothing_leaves_the_first_answer(
    conversation: Conversation, status: Turn.Status
) -> None:
    turn = exchange(conversation)
    again = turns.retry(turn, request_key="again", model="openai:scripted").turn
    answer(again, "", status=status, error_code="dropped" if status == Turn.Status.FAILED else "")
    assert branch_texts(conversation) == ["Why?", "Because."]


def test_a_second_attempt_whose_worker_is_lost_leaves_the_first_answer(conversation: Conversation) -> None:
    again = turns.retry(exchange(conversation), request_key="again", model="openai:scripted").turn
    turns.claim(again.pk, lease=timedelta(seconds=-1))
    turns.sweep(now=timezone.now())
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


def test_a_live_turn_is_not_tried_again(conversation: Conversation) -> None:
    turn = ask(conversation)
    with pytest.raises(ConversationBusy):
        turns.retry(turn, request_key="again", model="openai:scripted")


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

    def renew() -> turns.Renewal:
        try:
            return turns.renew([held.pk, free.pk], lease=LEASE)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as elsewhere, transaction.atomic():
        Conversation.objects.filter(pk=held.conversation_id).delete()
        assert elsewhere.submit(renew).result(timeout=5).alive == {held.pk, free.pk}
        transaction.set_rollback(True)
    renewed = Turn.objects.filter(lease_until__gt=timezone.now()).values_list("pk", flat=True)
    assert list(renewed) == [free.pk]


def test_the_sweep_ends_a_turn_whose_worker_is_gone_and_keeps_what_was_streamed(conversation: Conversation) -> None:
    turn = ask(conversation)
    turns.claim(turn.pk, lease=timedelta(seconds=-1))
    turns.save_partial(turn, [{"type": "text", "text": "Bec"}])
    swept = turns.sweep(now=timezone.now())
    assert [found.pk for found in swept.interrupted] == [turn.pk]
    turn.refresh_from_db()
    assert turn.status == Turn.Status.INTERRUPTED
    assert branch_texts(conversation) == ["Why?", "Bec"]
    assert Message.objects.get(turn=turn, role="assistant").tokens > 0
    exchange(conversation, "Go on.", "Because.")
    assert branch_texts(conversation) == ["Why?", "Bec", "Go on.", "Because."]


@pytest.mark.parametrize(
    ("saved", "seen", "kept"), [("", "Beca", "Beca"), ("Be", "Beca", "Beca"), ("Beca", "Be", "Beca")]
)
def test_what_viewers_saw_is_kept_together_with_the_end(
    conversation: Conversation, saved: str, seen: str, kept: str
) -> None:
    turn = ask(conversation)
    turns.claim(turn.pk, lease=timedelta(seconds=-1))
    if saved:
        turns.save_partial(turn, [{"type": "text", "text": saved}])
    turns.sweep(now=timezone.now(), shown=lambda _: Shown(seen))
    assert branch_texts(conversation) == ["Why?", kept]
    assert Message.objects.get(turn=turn, role="assistant").tokens > 0


@pytest.mark.django_db(transaction=True)
def test_a_turn_renewed_while_the_sweep_looks_at_it_goes_on(conversation: Conversation) -> None:
    turn = ask(conversation)
    turns.claim(turn.pk, lease=timedelta(seconds=-1))

    def sweep() -> int:
        try:
            return len(turns.sweep(now=timezone.now()).interrupted)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as elsewhere:
        with transaction.atomic():
            Conversation.objects.select_for_update().get(pk=conversation.pk)
            sweeping = elsewhere.submit(sweep)
            assert wait_until(_somebody_waits_for_a_lock, seconds=30)
            turns.renew([turn.pk], lease=LEASE)
        assert sweeping.result() == 0
    turn.refresh_from_db()
    assert turn.is_live


def _somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) "
            "WHERE NOT granted AND datname = current_database()"
        )
        return bool(cursor.fetchone()[0])


def test_the_sweep_leaves_living_turns_alone(conversation: Conversation) -> None:
    turn = ask(conversation)
    turns.claim(turn.pk, lease=LEASE)
    assert turns.sweep(now=timezone.now()).interrupted == []


def test_the_sweep_queues_again_what_the_queue_may_have_lost(conversation: Conversation) -> None:
    turn = ask(conversation)
    assert turns.sweep(now=timezone.now()).waiting == []
    assert turns.sweep(now=timezone.now() + turns.REQUEUE_AFTER).waiting == [turn.pk]


def test_a_turn_no_worker_ever_took_ends_too(conversation: Conversation) -> None:
    turn = ask(conversation)
    swept = turns.sweep(now=timezone.now() + turns.QUEUE_PATIENCE)
    assert [found.pk for found in swept.interrupted] == [turn.pk]
    assert swept.waiting == []


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


def test_the_first_question_gives_the_title_and_the_owners_title_stays(owner: User) -> None:
    asked = turns.start(owner, text="# Bees and **flowers**", request_key="1", model="openai:scripted")
    found = Conversation.objects.get(pk=asked.turn.conversation_id)
    assert (found.title, found.title_source) == ("Bees and flowers", "fallback")
    named = make_conversation(owner, title="Mine", title_source="user")
    exchange(named, "Something else")
    named.refresh_from_db()
    assert (named.title, named.title_source) == ("Mine", "user")


@pytest.mark.django_db(transaction=True)
def test_of_many_questions_at_once_one_runs(conversation: Conversation) -> None:
    def attempt(number: int) -> str:
        try:
            ask_with(conversation, key=f"key {number}")
        except ConversationBusy:
            return "busy"
        finally:
            connections.close_all()
        return "asked"

    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(attempt, range(16)))
    assert sorted(results) == ["asked"] + ["busy"] * 15
    assert Message.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_question_sent_many_times_at_once_is_stored_once(conversation: Conversation) -> None:
    def attempt(_: int) -> turns.Asked:
        try:
            return ask_with(conversation, key="once")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(attempt, range(16)))
    assert len({asked.turn.pk for asked in results}) == 1
    assert sum(asked.is_new for asked in results) == 1


@pytest.mark.django_db(transaction=True)
def test_a_first_question_sent_many_times_at_once_begins_one_conversation() -> None:
    person = make_user()

    def attempt(_: int) -> turns.Asked:
        try:
            return turns.start(person, text="Why?", request_key="once", model="openai:scripted")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(attempt, range(16)))
    assert len({asked.turn.pk for asked in results}) == 1
    assert Conversation.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_one_claims_a_turn_and_one_sweep_ends_it(conversation: Conversation) -> None:
    turn = ask(conversation)

    def claim(_: int) -> bool:
        try:
            return turns.claim(turn.pk, lease=timedelta(seconds=-1)) is not None
        finally:
            connections.close_all()

    def sweep(_: int) -> int:
        try:
            return len(turns.sweep(now=timezone.now()).interrupted)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(claim, range(8))) == 1
        assert sum(pool.map(sweep, range(8))) == 1


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
    start = Barrier(12)

    def attempt(conversation: Conversation) -> str:
        try:
            start.wait(timeout=10)
            ask_with(conversation, key="once")
        except TooManyReplies:
            return "refused"
        finally:
            connections.close_all()
        return "asked"

    with ThreadPoolExecutor(12) as pool:
        results = list(pool.map(attempt, [make_conversation(owner) for _ in range(12)]))
    assert sorted(results) == ["asked"] * 3 + ["refused"] * 9


def test_activity_moves_when_a_message_is_written_and_not_when_none_is(conversation: Conversation) -> None:
    turn = exchange(conversation)
    long_ago = timezone.now() - timedelta(days=90)
    Conversation.objects.update(last_activity_at=long_ago)
    again = turns.retry(turn, request_key="again", model="openai:scripted").turn
    answer(again, "", status=Turn.Status.FAILED, error_code="dropped")
    conversation.refresh_from_db()
    assert conversation.last_activity_at == long_ago
    later = turns.retry(turn, request_key="later", model="openai:scripted").turn
    turns.claim(later.pk, lease=LEASE)
    turns.save_partial(later, [{"type": "text", "text": "Be"}])
    conversation.refresh_from_db()
    assert conversation.last_activity_at > long_ago
