"""What lost workers and a lost queue left behind is ended, or queued again."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from redis import Redis

from conversations import asking, sweeping, turns
from conversations.models import Conversation, Message, Turn
from conversations.streams import Shown, shown, stream_key
from pocketchat.embedded.process import wait_until
from tests.factories import ask, branch_texts, exchange
from tests.threads import at_once, with_own_connection

pytestmark = pytest.mark.django_db

LEASE = timedelta(seconds=15)


def test_the_sweep_ends_a_turn_whose_worker_is_gone_and_keeps_what_was_streamed(conversation: Conversation) -> None:
    turn = ask(conversation)
    turns.claim(turn.pk, lease=timedelta(seconds=-1))
    turns.save_partial(turn, [{"type": "text", "text": "Bec"}])
    swept = sweeping.sweep(now=timezone.now())
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
    sweeping.sweep(now=timezone.now(), shown=lambda _: Shown(seen))
    assert branch_texts(conversation) == ["Why?", kept]
    assert Message.objects.get(turn=turn, role="assistant").tokens > 0


def test_events_that_cannot_be_read_keep_no_turn_alive(
    conversation: Conversation, caplog: pytest.LogCaptureFixture
) -> None:
    turn = ask(conversation)
    turns.claim(turn.pk, lease=timedelta(seconds=-1))
    turns.save_partial(turn, [{"type": "text", "text": "Bec"}])
    with Redis.from_url(settings.REDIS_URL) as redis:
        redis.xadd(stream_key(turn.pk), {"event": "delta", "data": "no JSON, and private"})
        swept = sweeping.sweep(now=timezone.now(), shown=shown)
        redis.delete(stream_key(turn.pk))
    assert [found.pk for found in swept.interrupted] == [turn.pk]
    assert branch_texts(conversation) == ["Why?", "Bec"]
    assert "private" not in caplog.text


def test_a_second_attempt_whose_worker_is_lost_leaves_the_first_answer(conversation: Conversation) -> None:
    again = asking.retry(exchange(conversation), request_key="again", model="openai:scripted").turn
    turns.claim(again.pk, lease=timedelta(seconds=-1))
    sweeping.sweep(now=timezone.now())
    assert branch_texts(conversation) == ["Why?", "Because."]


def test_the_sweep_leaves_living_turns_alone(conversation: Conversation) -> None:
    turn = ask(conversation)
    turns.claim(turn.pk, lease=LEASE)
    assert sweeping.sweep(now=timezone.now()).interrupted == []


def test_a_turn_no_worker_ever_took_ends_too(conversation: Conversation) -> None:
    turn = ask(conversation)
    swept = sweeping.sweep(now=timezone.now() + asking.QUEUE_PATIENCE)
    assert [found.pk for found in swept.interrupted] == [turn.pk]
    assert swept.waiting == []


def test_the_sweep_queues_again_what_the_queue_may_have_lost(conversation: Conversation) -> None:
    turn = ask(conversation)
    assert sweeping.sweep(now=timezone.now()).waiting == []
    assert sweeping.sweep(now=timezone.now() + sweeping.REQUEUE_AFTER).waiting == [turn.pk]


@pytest.mark.django_db(transaction=True)
def test_a_turn_renewed_while_the_sweep_looks_at_it_goes_on(conversation: Conversation) -> None:
    turn = ask(conversation)
    turns.claim(turn.pk, lease=timedelta(seconds=-1))

    @with_own_connection
    def sweep() -> int:
        return len(sweeping.sweep(now=timezone.now()).interrupted)

    with ThreadPoolExecutor(1) as elsewhere:
        with transaction.atomic():
            Conversation.objects.select_for_update().get(pk=conversation.pk)
            ending = elsewhere.submit(sweep)
            assert wait_until(_somebody_waits_for_a_lock, seconds=30)
            turns.renew([turn.pk], lease=LEASE)
        assert ending.result() == 0
    turn.refresh_from_db()
    assert turn.is_live


def _somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) "
            "WHERE NOT granted AND datname = current_database()"
        )
        return bool(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_one_claims_a_turn_and_one_sweep_ends_it(conversation: Conversation) -> None:
    turn = ask(conversation)

    def claim(_: int) -> bool:
        return turns.claim(turn.pk, lease=timedelta(seconds=-1)) is not None

    def sweep(_: int) -> int:
        return len(sweeping.sweep(now=timezone.now()).interrupted)

    assert sum(at_once(claim, range(8))) == 1
    assert sum(at_once(sweep, range(8))) == 1
