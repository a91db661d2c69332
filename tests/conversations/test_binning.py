"""The bin: what is put into it is hidden at once, and comes back as it was."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.http import Http404
from django.utils import timezone

from accounts.models import User
from conversations import asking, binning, turns
from conversations.models import Conversation, Hold, Message, Turn
from conversations.refusals import Held
from conversations.retention.deleting import Deleted, delete_for_good, put_into_bin
from conversations.streams import Shown, shown
from conversations.streams.events import briefly_connected, fields, stream_key
from pocketchat.embedded.process import wait_until
from tests.factories import ask, exchange, make_conversation, reply_of
from tests.threads import with_own_connection

pytestmark = pytest.mark.django_db(transaction=True)

LEASE = timedelta(minutes=1)


def rows() -> list[dict[str, object]]:
    return list(Conversation.objects.order_by("pk").values())


def test_it_comes_back_as_it_was(conversation: Conversation) -> None:
    exchange(conversation)
    Conversation.objects.update(pinned=True, archived=True, title="Bread", title_source="user")
    before = rows()
    now = timezone.now()
    assert binning.put(conversation, now).ids == (conversation.pk,)
    assert Conversation.objects.get().trashed_at == now
    assert binning.take_out(conversation)
    assert rows() == before


def test_twice_changes_nothing(conversation: Conversation) -> None:
    now = timezone.now()
    binning.put(conversation, now)
    assert binning.put(conversation, now + timedelta(days=1)).ids == ()
    assert Conversation.objects.get().trashed_at == now
    assert binning.take_out(conversation)
    assert not binning.take_out(conversation)


@pytest.mark.parametrize("has_begun", [False, True])
def test_a_live_reply_is_stopped_first_and_keeps_what_was_seen_of_it(
    conversation: Conversation, has_begun: bool
) -> None:
    turn = ask(conversation)
    if has_begun:
        turns.claim(turn.pk, lease=LEASE)
    seen = Shown("Because of") if has_begun else Shown()
    binned = binning.put_all([conversation.pk], now=timezone.now(), shown=lambda _: seen)
    assert binned.stopped == (turn.pk,)
    turn.refresh_from_db()
    assert turn.status == "stopped"
    assert [message.text for message in Message.objects.order_by("pk")] == ["Why?", *(["Because of"] * has_begun)]
    # Its worker learns that it is no longer its own, and writes nothing any more.
    assert turns.renew([turn.pk], lease=LEASE).alive == frozenset()
    assert not turns.save_partial(turn, [{"type": "text", "text": "Because of the"}])
    assert not turns.finish(turn, turns.Outcome(Turn.Status.COMPLETE, [{"type": "text", "text": "Because of the"}]))


def test_nobody_asks_in_it(conversation: Conversation) -> None:
    binning.put(conversation, timezone.now())
    with pytest.raises(Http404):
        ask(conversation)


def test_a_question_that_is_asked_at_the_same_time_is_stopped_or_refused(conversation: Conversation) -> None:
    """Whoever is first: nothing is answered in the bin."""
    with ThreadPoolExecutor(1) as other:
        with transaction.atomic():
            asking.ask(conversation.pk, text="Why?", request_key="k", parent_id=None, model="openai:scripted")
            binning_meanwhile = other.submit(with_own_connection(lambda: binning.put(conversation, timezone.now())))
            assert wait_until(somebody_waits, seconds=10)
        assert binning_meanwhile.result(timeout=10).ids == (conversation.pk,)
    assert Turn.objects.get().status == "stopped"


def somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(cursor.fetchone()[0])


def test_many_go_in_batches(conversation: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binning, "BATCH", 2)
    others = [make_conversation(conversation.owner) for _ in range(4)]
    live = ask(others[3])
    ids = [conversation.pk, *(other.pk for other in others)]
    binned = binning.put_all(ids, now=timezone.now())
    assert (set(binned.ids), binned.stopped) == (set(ids), (live.pk,))
    assert binning.take_all_out(ids) == 5


def test_what_was_seen_until_its_viewers_were_told_of_the_end_is_kept(conversation: Conversation) -> None:
    """The worker writes on until it learns of it."""
    turn, told = ask(conversation), Event()
    turns.claim(turn.pk, lease=LEASE)

    def write_on() -> None:
        with briefly_connected() as redis:
            while not told.is_set():
                redis.execute_command("XADD", stream_key(turn.pk), "*", *fields("delta", text="word "))

    with ThreadPoolExecutor(1) as worker:
        writing = worker.submit(write_on)
        assert wait_until(lambda: shown(turn.pk).text != "", seconds=5)
        put_into_bin([conversation.pk], now=timezone.now())
        told.set()
        writing.result()
    assert len(reply_of(turn).text) == len(shown(turn.pk).text) > 0


def hold(conversation: Conversation) -> None:
    Hold.objects.create(conversation=conversation, reason="A dispute.")


def delete(ids: list[UUID], owner: User, *, is_for_good: bool) -> Deleted:
    now = timezone.now()
    return delete_for_good(ids, by=owner, now=now) if is_for_good else put_into_bin(ids, now=now)


@pytest.mark.parametrize("is_for_good", [False, True])
def test_what_is_held_stays_where_it_is(owner: User, conversation: Conversation, is_for_good: bool) -> None:
    Hold.objects.create(conversation=conversation, reason="A dispute.")
    other = make_conversation(owner)
    with pytest.raises(Held):
        delete([conversation.pk], owner, is_for_good=is_for_good)
    deleted = delete([conversation.pk, other.pk], owner, is_for_good=is_for_good)
    assert deleted == Deleted((other.pk,), frozenset({conversation.pk}), is_for_good=is_for_good)
    assert list(Conversation.objects.filter(trashed_at=None)) == [conversation]


def test_what_is_deleted_for_good_is_gone_from_the_bin_too(conversation: Conversation) -> None:
    reply_of(exchange(conversation))
    put_into_bin([conversation.pk], now=timezone.now())
    assert delete_for_good([conversation.pk], by=conversation.owner, now=timezone.now()).ids == (conversation.pk,)
    assert not Message.objects.exists()
    assert delete_for_good([conversation.pk], by=conversation.owner, now=timezone.now()).ids == ()
