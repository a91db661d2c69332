"""One road for every deletion: the rows go at once, the receipt says what went, and nothing of it is found again."""

from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.utils import timezone
from redis import Redis

from accounts.models import User
from conversations import turns
from conversations.models import Conversation, Embedding, Erasure, Hold, Message, ModelCall, Summary, Turn
from conversations.refusals import Held
from conversations.retention import erase, finishing, rows
from conversations.retention.erase import Receipt, erase_conversations
from conversations.retention.versions import erase_version
from conversations.streams import announce_end, stream_key
from tests.factories import ask, edit, exchange, make_conversation, make_summary

pytestmark = pytest.mark.django_db

NOW = timezone.now()


def erased(*conversations: Conversation, by: User | None = None) -> Receipt:
    ids = [conversation.pk for conversation in conversations]
    return erase_conversations(ids, reason=Erasure.Reason.OWNER, by=by, now=timezone.now())


def nothing_is_left_of(conversation_id: UUID) -> bool:
    tables = (Message, Turn, Embedding, Summary, ModelCall)
    there = [model.objects.filter(conversation=conversation_id).exists() for model in tables]
    return not any(there) and not Conversation.objects.filter(pk=conversation_id).exists()


def test_rows_go_and_the_receipt_counts_them(conversation: Conversation, owner: User) -> None:
    turn = exchange(conversation)
    make_summary(turn)
    ModelCall.objects.create(conversation=conversation, turn=turn, purpose="reply", latency_ms=1)
    (receipt,) = erased(conversation, by=owner).erasures
    assert nothing_is_left_of(conversation.pk)
    receipt.refresh_from_db()
    assert (receipt.reason, receipt.by) == ("owner", owner.pk)
    assert (receipt.conversations, receipt.turns) == ([conversation.pk], [turn.pk])
    assert receipt.counts == {
        "conversation": 1,
        "message": 2,
        "turn": 1,
        "summary": 1,
        "modelcall": 1,
        "searchentry": 2,
    }
    assert receipt.erased_at is not None
    assert not receipt.is_verified


def test_what_is_in_the_bin_is_erased_as_well(conversation: Conversation) -> None:
    Conversation.objects.filter(pk=conversation.pk).update(trashed_at=NOW)
    assert erased(conversation).conversations == 1
    assert nothing_is_left_of(conversation.pk)


def test_others_stay(conversation: Conversation, owner: User) -> None:
    other = exchange(make_conversation(owner))
    erased(conversation)
    assert Message.objects.filter(turn=other).count() == 2


def test_it_is_safe_to_run_twice(conversation: Conversation) -> None:
    erased(conversation)
    assert erased(conversation) == Receipt()
    assert Erasure.objects.count() == 1


def test_what_is_held_is_refused_and_stays(conversation: Conversation, owner: User) -> None:
    exchange(conversation)
    Hold.objects.create(user=owner, reason="7/26")
    with pytest.raises(Held):
        erased(conversation)
    assert Message.objects.filter(conversation=conversation).count() == 2
    assert not Erasure.objects.exists()


def test_a_held_version_is_refused(conversation: Conversation, owner: User) -> None:
    edited = edit(exchange(conversation).prompt, "Why so?", "A2")
    Hold.objects.create(conversation=conversation, reason="7/26")
    with pytest.raises(Held):
        erase_version(conversation.pk, edited.prompt_id, by=owner, now=NOW)
    assert Turn.objects.filter(pk=edited.pk).exists()


def test_a_version_leaves_a_receipt_of_its_turns(conversation: Conversation, owner: User) -> None:
    edited = edit(exchange(conversation).prompt, "Why so?", "A2")
    announce_end(edited.pk, "complete")
    erase_version(conversation.pk, edited.prompt_id, by=owner, now=NOW)
    receipt = Erasure.objects.get()
    assert (receipt.reason, receipt.by) == ("version", owner.pk)
    assert (receipt.conversations, receipt.turns) == ([], [edited.pk])
    assert receipt.counts == {"message": 2, "turn": 1, "searchentry": 2, "streams": 1}
    with Redis.from_url(settings.REDIS_URL) as redis:
        assert not redis.exists(stream_key(edited.pk))


@pytest.mark.parametrize("at_once", [3, 4])
def test_a_large_conversation_goes_in_steps(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(rows, "MESSAGES_AT_ONCE", at_once)
    made = [exchange(conversation) for _ in range(5)]
    edit(made[1].prompt, "Else?", "E")
    receipt = erased(conversation)
    assert nothing_is_left_of(conversation.pk)
    assert receipt.conversations == 1
    assert sum(one.counts["message"] for one in receipt.erasures) == 12
    named = [turn for one in receipt.erasures for turn in one.turns]
    assert len(named) == len(set(named)) == 6
    assert all(one.erased_at for one in Erasure.objects.all())


def test_an_erasure_that_was_killed_between_two_steps_is_out_of_sight_and_resumed(
    conversation: Conversation, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "MESSAGES_AT_ONCE", 3)
    for _ in range(4):
        exchange(conversation)
    live = ask(conversation)

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(erase, "_last_step", die)
        with pytest.raises(KeyboardInterrupt):
            erased(conversation)
    assert not Conversation.objects.visible_to(owner).exists()
    assert not Turn.objects.live().filter(pk=live.pk).exists()
    assert Message.objects.filter(conversation=conversation).exists()

    finishing.finish(now=timezone.now())
    assert Conversation.objects.filter(pk=conversation.pk).exists(), "somebody may still be at it"
    finishing.finish(now=timezone.now() + 2 * erase.RESUMED_AFTER)
    assert nothing_is_left_of(conversation.pk)
    assert all(one.is_verified for one in Erasure.objects.all())


def test_conversations_are_erased_together_up_to_a_bound(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MESSAGES_AT_ONCE", 4)
    many = [make_conversation(owner) for _ in range(5)]
    for conversation in many:
        exchange(conversation)
    receipt = erased(*many)
    assert [len(one.conversations) for one in receipt.erasures] == [2, 2, 1]


def test_a_clean_look_verifies_and_a_second_one_settles(conversation: Conversation) -> None:
    (receipt,) = erased(conversation).erasures
    now = timezone.now()
    assert finishing.finish(now=now) == finishing.Finished(1, 0)
    receipt.refresh_from_db()
    assert receipt.verified_at == now
    assert receipt.next_look_at is not None
    assert finishing.finish(now=now) == finishing.Finished(0, 0)
    finishing.finish(now=now + timedelta(minutes=3))
    settled = Erasure.objects.get()
    assert (settled.next_look_at, settled.looks) == (None, 2)


def test_late_events_are_gone_after_the_second_look(conversation: Conversation) -> None:
    turn = exchange(conversation)
    (receipt,) = erased(conversation).erasures
    finishing.finish(now=timezone.now())
    announce_end(turn.pk, "complete")
    finishing.finish(now=timezone.now() + timedelta(minutes=3))
    receipt.refresh_from_db()
    assert receipt.counts["streams"] == 1
    assert receipt.is_verified
    with Redis.from_url(settings.REDIS_URL) as redis:
        assert not redis.exists(stream_key(turn.pk))


def test_a_claimed_turn_of_an_erased_conversation_is_nobodys(conversation: Conversation) -> None:
    live = ask(conversation)
    erased(conversation)
    assert turns.claim(live.pk, lease=timedelta(seconds=5)) is None
    assert not turns.save_partial(live, [{"type": "text", "text": "late"}])
    assert not turns.finish(live, turns.Outcome(Turn.Status.COMPLETE, [{"type": "text", "text": "late"}]))
    assert nothing_is_left_of(conversation.pk)


def test_ids_that_nobody_has_are_no_receipt() -> None:
    assert erase_conversations([uuid4()], reason=Erasure.Reason.OWNER, by=None, now=NOW) == Receipt()


def test_two_who_erase_the_same_large_conversation_leave_one_receipt_of_it(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One was slow, and was taken for killed."""
    monkeypatch.setattr(rows, "MESSAGES_AT_ONCE", 3)
    for _ in range(3):
        exchange(conversation)
    last = erase._last_step

    def be_overtaken(erasure: Erasure, *, now: datetime) -> list[UUID] | None:
        with monkeypatch.context() as faster:
            faster.setattr(erase, "_last_step", last)
            erase.resumed(Erasure.objects.get(pk=erasure.pk), now=now)
        return last(erasure, now=now)

    with monkeypatch.context() as slow:
        slow.setattr(erase, "_last_step", be_overtaken)
        made = erased(conversation).erasures
    assert nothing_is_left_of(conversation.pk)
    whole = Erasure.objects.get(conversations=[conversation.pk])
    assert whole.counts["conversation"] == 1
    assert whole.pk not in [one.pk for one in made]
