"""How it goes with the writing: what is so of the next summary, and what a turn makes due."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from redis import Redis

from conversations import summaries, tasks
from conversations.models import Conversation, ModelCall, Summary, Turn
from conversations.summaries.progress import MOST_REST, Progress, lease_of
from conversations.tracing import call_of
from tests.conversations.summaries.living import lived
from tests.factories import ask, exchange, make_summary

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _small(settings: Settings) -> None:
    settings.POCKETCHAT_CHAT_MODEL = "openai:scripted"
    settings.POCKETCHAT_HISTORY_TOKENS = 200
    settings.POCKETCHAT_RECALL = False


def attempt(conversation: Conversation, outcome: str) -> None:
    call_of(conversation.pk, ModelCall.Purpose.SUMMARY, "openai:small", end=None, latency_ms=1, outcome=outcome).save()


def progress(conversation: Conversation) -> Progress:
    return summaries.progress_of(conversation)


def test_nothing_is_to_be_told_before_the_first_attempt_and_after_a_good_one(conversation: Conversation) -> None:
    assert progress(conversation) == Progress("idle")
    turn = exchange(conversation)
    attempt(conversation, "invented")
    attempt(conversation, "ok")
    make_summary(turn)
    assert progress(conversation) == Progress("idle")


def test_a_failure_waits_for_one_turn_more_ones_for_twice_as_many_each(conversation: Conversation) -> None:
    waits = []
    for _ in range(9):
        attempt(conversation, "too_long")
        waits.append(progress(conversation).turns_to_wait)
    assert waits == [1, 2, 4, 8, 16, 32, MOST_REST, MOST_REST, MOST_REST]
    exchange(conversation)
    assert progress(conversation) == Progress("failed", MOST_REST - 1)


def test_to_have_made_way_is_told_and_is_no_failure(conversation: Conversation) -> None:
    attempt(conversation, "gave_way")
    assert progress(conversation) == Progress("gave_way")
    attempt(conversation, "line_invented")
    assert progress(conversation) == Progress("gave_way"), "what a summary went on without is nobody's concern"


def test_what_a_model_is_at_is_told(conversation: Conversation) -> None:
    attempt(conversation, "too_long")
    cache.set(lease_of(conversation.pk), 1)
    assert progress(conversation).state == "being_written"
    cache.delete(lease_of(conversation.pk))
    assert progress(conversation).state == "failed"


def sentence(page: Client, conversation: Conversation, path: str = "summary/") -> str:
    return " ".join(page.get(f"/c/{conversation.pk}/{path}").content.decode().split())


@pytest.mark.parametrize("path", ["summary/", "context/"])
def test_the_pages_tell_it_in_plain_words(page: Client, conversation: Conversation, path: str) -> None:
    turn = exchange(conversation)
    none = "There is none yet."
    assert none in sentence(page, conversation, path)
    assert "seen-progress" not in sentence(page, conversation, path)
    cache.set(lease_of(conversation.pk), 1)
    assert "A model is writing one now." in sentence(page, conversation, path)
    make_summary(turn)
    assert "A model is writing the next one now." in sentence(page, conversation, path)
    cache.delete(lease_of(conversation.pk))
    attempt(conversation, "gave_way")
    assert "was needed for a reply. It is asked again after the next answer." in sentence(page, conversation, path)
    attempt(conversation, "too_long")
    failed = "The last attempt to write one did not succeed. It is tried again after"
    assert f"{failed} the next answer." in sentence(page, conversation, path)
    attempt(conversation, "too_long")
    assert f"{failed} 2 more answers." in sentence(page, conversation, path)
    summaries.switch(conversation, on=False)
    assert "switched off for this conversation" in sentence(page, conversation, path)
    assert failed not in sentence(page, conversation, path)


def test_a_past_request_is_told_nothing_of_the_next_summary(page: Client, conversation: Conversation) -> None:
    lived(conversation, 1)
    attempt(conversation, "too_long")
    turn = Turn.objects.get()
    assert "did not succeed" not in page.get(f"/turns/{turn.pk}/context/").content.decode()


@pytest.fixture
def queue() -> Iterator[Redis]:
    """What Celery keeps for the workers that ask models."""
    with Redis.from_url(django_settings.REDIS_URL) as redis:
        redis.delete("replies")
        yield redis
        redis.delete("replies")


@pytest.mark.parametrize("status", [Turn.Status.COMPLETE, Turn.Status.STOPPED, Turn.Status.FAILED])
def test_a_turn_makes_a_summary_due_however_it_ended(
    conversation: Conversation, queue: Redis, status: Turn.Status
) -> None:
    lived(conversation, 12)
    facts: dict[str, Any] = {"error_code": "provider_down"} if status == Turn.Status.FAILED else {}
    lived(conversation, 1, status=status, **facts)
    tasks.answer(str(Turn.objects.latest("created_at").pk))
    queued = [json.loads(message)["headers"] for message in queue.lrange("replies", 0, -1)]
    asked = [(one["task"], one["argsrepr"]) for one in queued if one["task"].endswith("summary")]
    assert asked == [("conversations.roll_summary", f"('{conversation.pk}',)")]


def test_a_turn_that_is_still_to_end_makes_nothing_due(conversation: Conversation, queue: Redis) -> None:
    lived(conversation, 12)
    turn = ask(conversation)
    Turn.objects.filter(pk=turn.pk).update(status="streaming", lease_until=timezone.now(), started_at=timezone.now())
    tasks.answer(str(turn.pk))
    assert not [one for one in queue.lrange("replies", 0, -1) if b"roll_summary" in one]
    assert not Summary.objects.exists()
