"""What a preview counts is what a purge deletes, to the row, whatever the clocks of the places say."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import User
from conversations import access
from conversations.expiry import Kind
from conversations.models import Conversation
from conversations.retention import holds
from conversations.retention.due import _over, due
from conversations.retention.preview import preview
from conversations.retention.purge import purge
from tests.factories import exchange, make_user
from tests.ruling import aged, group_of, rule

pytestmark = pytest.mark.django_db


def gone(now: datetime) -> set[UUID]:
    """What a purge deletes."""
    before = set(Conversation.objects.values_list("pk", flat=True))
    purge(now=now, did={}, batch=2)
    return before - set(Conversation.objects.values_list("pk", flat=True))


def test_without_a_rule_a_purge_deletes_nothing_but_what_is_in_the_bin_for_thirty_days(owner: User) -> None:
    now = timezone.now()
    aged(owner, 4000), aged(owner, 4000, temporary=True), aged(owner, 40, trashed_at=now - timedelta(days=29))
    over = aged(owner, 40, trashed_at=now - timedelta(days=30))
    assert preview(now).conversations == 1
    assert gone(now) == {over.pk}


def test_the_preview_counts_what_the_purge_deletes_and_names_what_is_held(owner: User, stranger: User) -> None:
    now = timezone.now()
    old = [aged(owner, days, now=now) for days in (91, 120, 400)]
    exchange(old[0])
    Conversation.objects.filter(pk=old[0].pk).update(last_activity_at=now - timedelta(days=91))
    aged(owner, 89), aged(stranger, 10, now=now, temporary=True)
    held = aged(stranger, 500)
    rule(idle_days=90, temporary_hours=48)
    holds.place(conversation=held, reason="Case 7", by=None, now=now)
    told = preview(now)
    assert (told.conversations, told.messages, told.turns, told.people, told.held) == (4, 2, 1, 2, 1)
    assert told.kinds == {"idle": 3, "age": 0, "temporary": 1, "bin": 0}
    assert told.bytes > 20
    assert (told.oldest, told.newest) == (now - timedelta(days=400), now - timedelta(days=10))
    assert set(told.sample) <= set(due(now).values_list("pk", flat=True))
    assert len(gone(now)) == 4
    assert Conversation.objects.filter(pk=held.pk).exists()
    assert preview(now).conversations == 0


def test_readers_and_purge_agree_on_every_conversation(owner: User, stranger: User) -> None:
    """What is neither in the bin nor held is seen exactly when it does not go."""
    now = timezone.now()
    chosen: list[dict[str, Any]] = [{}, {"kept": True}, {"temporary": True}]
    for days in (1, 29.9, 30.1, 59, 61, 100, 500):
        for fields in chosen:
            aged(owner, days, age=days + 50, **fields), aged(stranger, days, age=days + 50, **fields)
    rule(idle_days=90, age_days=150, temporary_hours=30 * 24, may_keep=True)
    rule(group=group_of(stranger), idle_days=30, may_keep=False)
    seen = {pk for user in (owner, stranger) for pk in access.conversations_of(user).values_list("pk", flat=True)}
    every = set(Conversation.objects.values_list("pk", flat=True))
    assert gone(now) == every - seen
    assert 0 < len(seen) < len(every)


SPRING = datetime(2026, 3, 29, 12, tzinfo=UTC)
"""In Berlin a day of 23 hours ends here, and none in Tokyo or in UTC."""


@pytest.fixture(params=["UTC", "Europe/Berlin", "Asia/Tokyo"])
def somewhere(request: pytest.FixtureRequest) -> Iterator[str]:
    """The server and its connection to the database are in this zone."""
    with connection.cursor() as cursor, timezone.override(request.param):
        cursor.execute(f"SET TIME ZONE '{request.param}'")
        yield request.param
        cursor.execute("SET TIME ZONE 'UTC'")


@pytest.mark.parametrize("days", [1, 2, 180])
def test_a_change_of_clocks_moves_no_cut_off(owner: User, somewhere: str, days: int) -> None:
    over = aged(owner, now=SPRING, days=days)
    for seconds in (1, 1800, 3599):
        aged(owner, now=SPRING + timedelta(seconds=seconds), days=days)
    rule(idle_days=days)
    assert set(due(SPRING).values_list("pk", flat=True)) == {over.pk}
    assert gone(SPRING) == {over.pk}


@pytest.mark.parametrize(
    ("kind", "index"),
    [
        (Kind.IDLE, "conversation_idle"),
        (Kind.AGE, "conversation_age"),
        (Kind.TEMPORARY, "conversation_temporary"),
        (Kind.BIN, "conversation_bin"),
    ],
)
def test_each_sweep_reads_an_index(owner: User, kind: Kind, index: str) -> None:
    now = timezone.now()
    rule(idle_days=16, age_days=16, temporary_hours=380, bin_days=7)
    people = [owner, *(make_user() for _ in range(20))]
    Conversation.objects.bulk_create(
        Conversation(
            owner=person,
            request_key=str(number),
            last_activity_at=now - timedelta(hours=number),
            created_at=now - timedelta(hours=number),
            temporary=number % 50 == 0,
            trashed_at=now if number % 49 == 0 else None,
        )
        for person in people
        for number in range(400)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE conversations_conversation, conversations_retentionrule, accounts_user")
    # Of the purge, and of the preview, which holds nothing.
    for lock in ("FOR UPDATE OF c SKIP LOCKED", ""):
        sql, params = _over([kind], now, "true", lock=lock)
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN {sql} LIMIT 100", params)
            plan = "\n".join(line for (line,) in cursor.fetchall())
        assert index in plan, plan
        assert "Seq Scan on conversations_conversation" not in plan, plan
