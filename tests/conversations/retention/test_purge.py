"""The purge: in batches, resumed where it broke off, one at a time, and never stopped by one conversation."""

from collections.abc import Collection
from datetime import timedelta
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from django_celery_beat.models import IntervalSchedule, PeriodicTask
from knox.models import AuthToken

from accounts import tokens
from accounts.models import User
from conversations import tasks
from conversations.models import Conversation, Message, ModelCall, TaskRun, Turn
from conversations.retention import holds, schedule
from conversations.retention import purge as purging
from conversations.retention.erase import erase_conversations
from conversations.retention.purge import purge
from tests.factories import ask, exchange, make_conversation
from tests.ruling import aged, rule
from tests.threads import at_once, with_own_connection

pytestmark = pytest.mark.django_db


def left() -> set[UUID]:
    return set(Conversation.objects.values_list("pk", flat=True))


def test_a_purge_that_is_killed_is_resumed_by_the_next(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for days in range(100, 107):
        aged(owner, days)
    young = aged(owner, 1)
    rule(idle_days=90)
    done, now = dict[str, int](), timezone.now()

    def killed_in_the_second_batch(did: dict[str, int]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        purge(now=now, did=done, tell=killed_in_the_second_batch, batch=2)
    assert (done["conversations"], len(left())) == (2, 6)
    assert purge(now=now, did=done, batch=2)
    assert (done["conversations"], left()) == (5, {young.pk})


def test_one_bad_conversation_stops_no_other(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [aged(owner, days) for days in range(100, 105)]
    rule(idle_days=90, age_days=95)
    erase = erase_conversations

    def breaks(ids: Collection[UUID], **how: Any) -> None:
        if made[2].pk in ids:
            raise RuntimeError("in mid-batch")
        erase(ids, **how)

    monkeypatch.setattr(purging, "erase_conversations", breaks)
    did = dict[str, int]()
    purge(now=timezone.now(), did=did, batch=2)
    assert (did["conversations"], did["failed"], left()) == (4, 1, {made[2].pk})
    monkeypatch.undo()
    did.clear()
    purge(now=timezone.now(), did=did, batch=2)
    assert (did["conversations"], did["failed"], left()) == (1, 0, set())


@pytest.mark.django_db(transaction=True)
def test_two_workers_delete_each_conversation_once(owner: User) -> None:
    for days in range(100, 140):
        exchange(aged(owner, days))
    Conversation.objects.update(last_activity_at=timezone.now() - timedelta(days=100))
    young = aged(owner, 1)
    rule(idle_days=90)
    at_once(lambda _: tasks.purge(), range(3))
    assert sum(run.did.get("conversations", 0) for run in TaskRun.objects.filter(task="purge")) == 40
    assert left() == {young.pk}
    assert not Message.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_row_that_somebody_holds_is_left_to_the_next_purge(owner: User) -> None:
    busy = aged(owner, 100)
    aged(owner, 100)
    rule(idle_days=90)

    @with_own_connection
    def purged(_: int) -> dict[str, int]:
        did = dict[str, int]()
        purge(now=timezone.now(), did=did)
        return did

    with transaction.atomic():
        Conversation.objects.select_for_update().get(pk=busy.pk)
        assert at_once(purged, [0])[0]["conversations"] == 1
    assert left() == {busy.pk}
    assert purged(0)["conversations"] == 1


def test_the_turn_of_a_live_reply_goes_too(owner: User) -> None:
    turn = ask(make_conversation(owner))
    Conversation.objects.update(created_at=timezone.now() - timedelta(days=400))
    rule(age_days=365)
    purge(now=timezone.now(), did={})
    assert not Turn.objects.filter(pk=turn.pk).exists()


def test_the_database_itself_keeps_what_is_held(owner: User, stranger: User) -> None:
    mine, theirs, free = aged(owner, 100), aged(stranger, 100), aged(owner, 100)
    now = timezone.now()
    hold = holds.place(conversation=mine, reason="Case 7", by=None, now=now)
    holds.place(user=stranger, reason="Case 7", by=None, now=now)
    for delete in (mine.delete, theirs.delete, stranger.delete, owner.delete, hold.delete):
        with pytest.raises(IntegrityError, match=r"held|lasts"), transaction.atomic():
            delete()
    free.delete()
    holds.lift(hold, by=None, now=now)
    mine.delete()
    assert left() == {theirs.pk}


def test_traces_sessions_and_tokens_past_their_life_go_and_others_stay(owner: User, stranger: User) -> None:
    now, conversation, held = timezone.now(), make_conversation(owner), make_conversation(stranger)
    call: dict[str, Any] = {"purpose": "reply", "provider": "openai", "model": "x", "latency_ms": 1, "outcome": "ok"}
    for one in (conversation, held):
        for days in (31, 29):
            ModelCall.objects.create(conversation=one, created_at=now - timedelta(days=days), **call)
    holds.place(user=stranger, reason="Case 7", by=None, now=now)
    for number, hours in enumerate((-1, 1)):
        Session.objects.create(session_key=str(number), session_data="", expire_date=now + timedelta(hours=hours))
    tokens.issue(owner, life=timedelta(days=1))
    AuthToken.objects.update(expiry=now - timedelta(hours=1))
    tokens.issue(owner, life=None)
    did = dict[str, int]()
    purge(now=now, did=did)
    assert (did["traces"], did["sessions"], did["tokens"]) == (0, 1, 1)
    assert (ModelCall.objects.count(), AuthToken.objects.count(), Session.objects.count()) == (4, 1, 1)
    rule(trace_days=30)
    purge(now=now, did=did)
    assert (did["traces"], ModelCall.objects.count()) == (1, 3)


def test_log_lines_past_their_life_go_and_without_a_rule_all_stay(owner: User) -> None:
    now, file = timezone.now(), settings.PLACES.logs / "old.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    written = [f'{{"event": "x", "timestamp": "{now - timedelta(days=days):%Y-%m-%dT%H:%M:%SZ}"}}' for days in (15, 13)]
    file.write_text("\n".join(written) + "\n")
    did = dict[str, int]()
    purge(now=now, did=did)
    assert (did["log_lines"], file.read_text().count("event")) == (0, 2)
    rule(log_days=14)
    purge(now=now, did=did)
    assert (did["log_lines"], file.read_text()) == (1, written[1] + "\n")
    file.unlink()


def test_the_task_records_what_it_did_and_tells_how_far_it_is(owner: User) -> None:
    aged(owner, 100)
    rule(idle_days=90)
    tasks.purge()
    run = TaskRun.objects.get(task="purge")
    assert (run.did["conversations"], run.did["failed"], run.error) == (1, 0, "")


def test_a_purge_beside_one_that_hangs_is_no_run_so_that_purges_become_late(owner: User) -> None:
    with purging._alone():
        tasks.purge()
        with pytest.raises(CommandError, match="running already"):
            said("run")
        assert not TaskRun.objects.filter(task="purge").exists()
    tasks.purge()
    assert TaskRun.objects.filter(task="purge").count() == 1


def test_the_command_previews_purges_and_tells_when_purges_are_late(owner: User) -> None:
    aged(owner, 100)
    rule(idle_days=90)
    told = said("preview")
    assert "conversations: 1" in told
    assert "over for idle: 1" in told
    assert "1 × Conversations are deleted 90 days" in told
    assert Conversation.objects.exists()
    assert "1 conversations" in said("run")
    assert not Conversation.objects.exists()
    PeriodicTask.objects.filter(task=schedule.TASK).delete()
    with pytest.raises(CommandError, match="late, or not planned"):
        said("status")
    daily, _ = IntervalSchedule.objects.get_or_create(every=1, period="days")
    PeriodicTask.objects.create(task=schedule.TASK, name="purge", interval=daily, last_run_at=timezone.now())
    assert "next: 2" in said("status")


def said(what: str) -> str:
    out = StringIO()
    call_command("retention", what, stdout=out)
    return out.getvalue()


def test_the_lock_is_let_go_when_a_purge_ends_and_when_it_breaks(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: object) -> None:
        raise ValueError("broken")

    monkeypatch.setattr(purging, "_delete_traces", break_down)
    with pytest.raises(ValueError, match="broken"):
        purge(now=timezone.now(), did={})
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()")
        assert cursor.fetchone() == (0,)
