"""How often something may be done, and that what may be done later stands in no reply's way."""

import time
from typing import get_args

import pytest
from django.core.cache import cache
from django.test import Client
from rest_framework.test import APIClient

from conversations import background, tasks
from conversations.handing_over import Task
from conversations.models import Conversation, ModelCall
from conversations.pace import keeps_pace
from conversations.providers.errors import ProviderError
from conversations.providers.values import ChatMessage, ChatRequest
from conversations.titles.naming import MOST_SUGGESTIONS
from tests.factories import exchange

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_counted() -> None:
    cache.clear()


def test_what_is_done_too_often_is_told_apart() -> None:
    assert [keeps_pace("a", most=2) for _ in range(4)] == [True, True, False, False]
    assert keeps_pace("b", most=2)


def test_a_count_ends_with_its_time() -> None:
    assert [keeps_pace("a", most=1, seconds=1) for _ in range(2)] == [True, False]
    time.sleep(1.1)
    assert keeps_pace("a", most=1, seconds=1)


def test_no_task_is_held_back_in_a_worker() -> None:
    """Celery keeps a task over its rate limit in one of the places that a worker fetches ahead, where replies wait."""
    ours = [task for name, task in tasks.answer.app.tasks.items() if name.startswith("conversations.")]
    assert len(ours) > 4
    assert [task.rate_limit for task in ours] == [None] * len(ours)


def test_what_is_handed_over_by_its_name_is_a_task() -> None:
    """The queue takes any name, and a worker throws away what it does not know."""
    assert {f"conversations.{name}" for name in get_args(Task)} <= set(tasks.answer.app.tasks)


def test_a_model_is_asked_so_often_in_the_background(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "MOST_A_MINUTE", 0)
    request = ChatRequest((ChatMessage("user", "A title?"),), max_tokens=5)
    with pytest.raises(ProviderError, match="out_of_pace"):
        background.ask(conversation.pk, ModelCall.Purpose.TITLE, request, seconds=1)
    assert not ModelCall.objects.exists(), "which counts neither as a try nor as a failure"


def test_a_person_asks_for_so_many_titles(page: Client, api: APIClient, conversation: Conversation) -> None:
    exchange(conversation)
    address = f"/c/{conversation.pk}/title/suggest/"
    for _ in range(MOST_SUGGESTIONS):
        assert page.post(address).status_code == 302
    refused = page.post(address, headers={"HX-Request": "true"})
    assert (refused.status_code, refused.content) == (
        429,
        b"A title can be asked for 10 times a minute. Wait a moment.",
    )
    answer = api.post(f"/api/v1/conversations/{conversation.pk}/title")
    assert (answer.status_code, answer.json()["code"], answer.json()["limit"]) == (429, "too_many_suggestions", 10)
