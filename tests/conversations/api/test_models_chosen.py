"""Which model answers, through the API: one that the installation offers, and no other."""

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import User
from conversations.models import Conversation, Turn
from conversations.providers.registry import BUNDLED
from tests.factories import answer, ask, exchange, make_conversation

pytestmark = pytest.mark.django_db

ROOT = "/api/v1/conversations"
GONE = "openai:gone"
OWN = "openai:own"


@pytest.fixture(autouse=True)
def _models(settings: Settings) -> None:
    settings.POCKETCHAT_CHAT_MODEL = OWN
    settings.POCKETCHAT_BUNDLED_URL = "http://localhost:1/v1"


@pytest.mark.parametrize("model", [OWN, BUNDLED, ""])
def test_a_conversation_takes_a_model_that_is_offered(api: APIClient, conversation: Conversation, model: str) -> None:
    Conversation.objects.update(model=GONE)
    response = api.patch(f"{ROOT}/{conversation.pk}", {"model": model}, format="json")
    assert (response.status_code, response.json()["model"]) == (200, model)
    conversation.refresh_from_db()
    assert conversation.model == model


def test_a_model_that_is_not_offered_is_refused_and_the_others_are_named(
    api: APIClient, conversation: Conversation, settings: Settings
) -> None:
    refused = api.patch(f"{ROOT}/{conversation.pk}", {"model": "openai:the-most-expensive"}, format="json")
    assert refused.status_code == 400
    assert OWN in refused.content.decode()
    settings.POCKETCHAT_BUNDLED_URL = ""
    assert api.patch(f"{ROOT}/{conversation.pk}", {"model": BUNDLED}, format="json").status_code == 400
    turn = exchange(conversation)
    assert api.post(f"/api/v1/turns/{turn.pk}/regenerate", {"model": GONE}, format="json").status_code == 400
    assert Turn.objects.count() == 1
    conversation.refresh_from_db()
    assert conversation.model == ""


def test_the_model_it_has_may_be_sent_along(api: APIClient, conversation: Conversation) -> None:
    Conversation.objects.update(model=GONE)
    response = api.patch(f"{ROOT}/{conversation.pk}", {"model": GONE, "pinned": True}, format="json")
    assert (response.status_code, response.json()["pinned"]) == (200, True)


@pytest.mark.parametrize(("sent", "model"), [({"model": BUNDLED}, BUNDLED), ({"model": ""}, OWN), ({}, GONE)])
def test_a_question_is_answered_again_by_the_model_named(
    api: APIClient, conversation: Conversation, sent: dict[str, str], model: str
) -> None:
    Conversation.objects.update(model=GONE)
    failed = answer(ask(conversation), "", status=Turn.Status.FAILED, error_code="unknown_model")
    response = api.post(f"/api/v1/turns/{failed.pk}/regenerate", sent, format="json")
    assert (response.status_code, response.json()["model"]) == (201, model)
    conversation.refresh_from_db()
    assert conversation.model == GONE


def test_a_stranger_chooses_no_model(api: APIClient, stranger: User) -> None:
    theirs = make_conversation(stranger, model=GONE)
    turn = exchange(theirs)
    assert api.patch(f"{ROOT}/{theirs.pk}", {"model": OWN}, format="json").status_code == 404
    assert api.post(f"/api/v1/turns/{turn.pk}/regenerate", {"model": OWN}, format="json").status_code == 404
    theirs.refresh_from_db()
    assert theirs.model == GONE
    assert Turn.objects.count() == 1
