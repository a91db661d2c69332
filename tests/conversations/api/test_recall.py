"""Older turns for programs: of one's own conversation, on the branch one is on."""

from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from conversations.models import Conversation
from tests.conversations.test_recollections import FACT, QUESTION, down
from tests.factories import edit, exchange, make_conversation

__all__ = ["down"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def long(conversation: Conversation) -> Conversation:
    exchange(conversation, FACT, "How nice for her.")
    for number in range(12):
        exchange(conversation, f"Count to {number}, please.", "One, two, three, and so on.")
    return conversation


def recall(api: APIClient, conversation: Conversation, **query: Any) -> Any:
    return api.get(f"/api/v1/conversations/{conversation.pk}/recall", query)


def test_turns_come_whole_and_oldest_first(api: APIClient, long: Conversation) -> None:
    results = recall(api, long, q=QUESTION).json()["results"]
    assert [message["text"] for message in results[0]["messages"]] == [FACT, "How nice for her."]
    assert results[0]["score"] == max(turn["score"] for turn in results)
    ids = [message["id"] for turn in results for message in turn["messages"]]
    assert ids == sorted(set(ids))


def test_k_counts_hits(api: APIClient, long: Conversation) -> None:
    assert len(recall(api, long, q=QUESTION, k=1).json()["results"]) == 1
    assert len(recall(api, long, q=QUESTION, k=50).json()["results"]) == 13


@pytest.mark.parametrize("query", [{}, {"q": " "}, {"q": "why", "k": 0}, {"q": "why", "k": 51}, {"q": "w" * 2001}])
def test_what_cannot_be_looked_for_is_refused(api: APIClient, long: Conversation, query: dict[str, Any]) -> None:
    response = recall(api, long, **query)
    assert (response.status_code, response.json()["code"]) == (400, "invalid")


def test_a_strangers_conversation_and_one_in_the_bin_do_not_exist(
    api: APIClient, long: Conversation, stranger: User
) -> None:
    foreign = make_conversation(stranger)
    exchange(foreign, FACT)
    assert recall(api, foreign, q=QUESTION).status_code == 404
    Conversation.objects.filter(pk=long.pk).update(trashed_at=timezone.now())
    assert recall(api, long, q=QUESTION).status_code == 404


def test_another_branch_is_not_found(api: APIClient, conversation: Conversation) -> None:
    first = exchange(conversation, FACT)
    edit(first.prompt, "My brother Otto moved to Porto.", "Oh.")
    assert FACT not in recall(api, conversation, q=QUESTION, k=50).content.decode()


def test_an_empty_conversation_has_nothing(api: APIClient, conversation: Conversation) -> None:
    assert recall(api, conversation, q=QUESTION).json() == {"results": []}


@pytest.mark.usefixtures("down")
def test_when_the_embedder_is_away_it_is_said(api: APIClient, long: Conversation) -> None:
    response = recall(api, long, q=QUESTION)
    assert (response.status_code, response.json()["code"]) == (503, "recall_unavailable")


def test_a_person_looks_for_so_much_and_another_is_not_held_up(
    api: APIClient, long: Conversation, stranger: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversations.pace.MOST_RECALLS", 2)
    foreign = make_conversation(stranger)
    cache.clear()
    statuses = [recall(api, long, q="Why?").status_code for _ in range(3)]
    refused = recall(api, long, q="Why?")
    assert statuses == [200, 200, 429]
    assert (refused.json()["code"], refused.json()["limit"]) == ("too_many_recalls", 2)
    api.force_authenticate(stranger)
    assert recall(api, foreign, q="Why?").status_code == 200
    cache.clear()
