"""What recurring tasks did is told in the admin: the last run, and every run that did something."""

import time
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from accounts.models import User
from conversations import handing_over, runs, sweeping, tasks
from conversations.models import Conversation, TaskRun, Turn
from conversations.streams import BRIEFLY
from tests.factories import PASSWORD, ask, make_conversation
from tests.refusing import refusing
from tests.threads import at_once

pytestmark = pytest.mark.django_db

BEGAN = timezone.now()


def ran(after: float = 0.0, *, error: str = "", **did: int) -> None:
    started_at = BEGAN + timedelta(seconds=after)
    runs.record("sweep", started_at=started_at, finished_at=started_at + timedelta(seconds=1), did=did, error=error)


def test_runs_that_found_nothing_share_a_row_that_tells_of_the_last() -> None:
    for number in range(5):
        ran(number * 5, interrupted=0)
    row = TaskRun.objects.get()
    assert (row.runs, row.started_at) == (5, BEGAN + timedelta(seconds=20))


def test_a_run_that_did_something_or_failed_is_told_of_by_itself() -> None:
    ran(0)
    ran(5, interrupted=2, requeued=0)
    ran(10, error="OperationalError")
    told = TaskRun.objects.order_by("finished_at").values_list("did", "error", "is_idle")
    assert list(told) == [
        ({}, "", True),
        ({"interrupted": 2, "requeued": 0}, "", False),
        ({}, "OperationalError", False),
    ]


def test_runs_that_fail_alike_one_after_another_share_a_row() -> None:
    for number in range(3):
        ran(number * 5, failed=1)
    ran(15, error="OperationalError")
    ran(20, error="OperationalError")
    ran(25)
    ran(30, failed=1)
    ran(35, interrupted=1)
    ran(40, interrupted=1)
    told = TaskRun.objects.filter(is_idle=False).order_by("pk").values_list("did", "error", "runs")
    assert list(told) == [
        ({"failed": 1}, "", 3),
        ({}, "OperationalError", 2),
        ({"failed": 1}, "", 1),
        ({"interrupted": 1}, "", 1),
        ({"interrupted": 1}, "", 1),
    ]
    assert TaskRun.objects.order_by("pk")[0].started_at == BEGAN + timedelta(seconds=10)


def test_old_runs_are_forgotten() -> None:
    ran(0, interrupted=1)
    ran(runs.KEPT.total_seconds() + 10, interrupted=1)
    assert TaskRun.objects.count() == 1


def test_the_database_keeps_one_idle_row_a_task() -> None:
    ran(0)
    with pytest.raises(IntegrityError), transaction.atomic():
        TaskRun.objects.create(task="sweep", is_idle=True, started_at=BEGAN, finished_at=BEGAN)


@pytest.mark.django_db(transaction=True)
def test_many_workers_that_sweep_at_once_end_each_turn_once_and_count_it_once(owner: User) -> None:
    abandoned = [ask(Conversation.objects.create(owner=owner, request_key=str(number))) for number in range(8)]
    Turn.objects.update(lease_until=timezone.now() - timedelta(seconds=1))

    at_once(lambda _: tasks.sweep(), range(6))
    assert set(Turn.objects.values_list("status", flat=True)) == {"interrupted"}
    assert sum(run.did.get("interrupted", 0) for run in TaskRun.objects.all()) == len(abandoned)
    assert TaskRun.objects.filter(is_idle=True).count() <= 1


def test_a_sweep_that_breaks_is_told_of_by_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(**_: object) -> None:
        raise ValueError("what somebody wrote")

    monkeypatch.setattr(sweeping, "sweep", break_down)
    with pytest.raises(ValueError, match="what somebody"):
        tasks.sweep()
    assert TaskRun.objects.get().error == "ValueError"


@pytest.mark.django_db(transaction=True)
def test_a_turn_that_cannot_be_ended_keeps_no_other_alive_and_is_counted_in_one_row(owner: User) -> None:
    broken, healthy = (ask(make_conversation(owner)) for _ in range(2))
    Turn.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    with refusing("conversations_turn", f"NEW.id = '{broken.pk}'"):
        for _ in range(4):
            tasks.sweep()
    healthy.refresh_from_db()
    assert healthy.status == Turn.Status.INTERRUPTED
    told = TaskRun.objects.order_by("pk").values_list("did__interrupted", "did__failed", "error", "runs")
    assert list(told) == [(1, 1, "", 1), (0, 1, "", 3)]


@pytest.mark.parametrize("error", [OSError, RuntimeError, ValueError])
def test_a_queue_that_breaks_however_it_likes_is_no_reason_to_wait(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def break_down(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(tasks.answer.app, "send_task", break_down)
    began = time.monotonic()
    assert handing_over.enqueue_answer(uuid4()) is False
    assert time.monotonic() - began < BRIEFLY / 2


@pytest.fixture
def administrator(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("admin@example.org", PASSWORD))
    return client


def test_the_admin_tells_of_the_last_run_and_says_when_the_next_is_overdue(administrator: Client) -> None:
    for number in range(30):
        ran(-3600 + number, interrupted=3, requeued=1)
    ran(-3600 + 60)
    address = "/admin/conversations/taskrun/"
    page = administrator.get(address).content.decode()
    assert "1 requeued, 3 interrupted" in page
    assert "nothing to do" in page
    assert page.count("icon-no") == 1
    assert "icon-yes" not in page
    tasks.sweep()
    page = administrator.get(address).content.decode()
    assert (page.count("icon-yes"), page.count("icon-no")) == (1, 0)
    filtered = administrator.get(f"{address}?is_idle__exact=0").content.decode()
    assert "1 requeued, 3 interrupted" in filtered
    assert "icon-no" not in filtered


def test_nobody_changes_what_was_recorded(administrator: Client) -> None:
    ran(0, interrupted=1)
    address = f"/admin/conversations/taskrun/{TaskRun.objects.get().pk}"
    assert administrator.post(f"{address}/delete/").status_code == 403
    assert administrator.get("/admin/conversations/taskrun/add/").status_code == 403


def test_a_turn_that_waits_long_is_queued_again_once_in_a_while(conversation: Conversation) -> None:
    turn = ask(conversation)
    Turn.objects.update(created_at=timezone.now() - timedelta(seconds=60))
    for _ in range(3):
        tasks.sweep()
    turn.refresh_from_db()
    assert turn.status == Turn.Status.QUEUED
    assert sum(run.did.get("requeued", 0) for run in TaskRun.objects.all()) == 1
