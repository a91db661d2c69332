"""The model a conversation used is no longer to be had: the page says so, and offers the installation's own."""

import re
from uuid import uuid4

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from conversations import asking
from conversations.models import Conversation, Turn
from tests.factories import answer, ask, branch_texts, exchange, make_conversation

pytestmark = pytest.mark.django_db

GONE, OWN = "openai:gone", "openai:own"
OFFER = "Answer with own"


@pytest.fixture(autouse=True)
def _own_model(settings: Settings) -> None:
    settings.POCKETCHAT_CHAT_MODEL = OWN


def failed_again(conversation: Conversation, error_code: str = "unknown_model", *, model: str = GONE) -> Turn:
    """A conversation whose reply was regenerated in vain."""
    first = exchange(conversation)
    Conversation.objects.filter(pk=conversation.pk).update(model=model)
    again = asking.retry(first, request_key=str(uuid4()), model=model or OWN).turn
    return answer(again, "", status=Turn.Status.FAILED, error_code=error_code)


@pytest.mark.parametrize("error_code", ["unknown_model", "not_configured"])
def test_another_model_is_offered_and_goes_on(page: Client, conversation: Conversation, error_code: str) -> None:
    failed = failed_again(conversation, error_code)
    html = page.get(f"/c/{conversation.pk}/#newest").content.decode()
    assert OFFER in html
    assert "Because." in html
    form = re.search(rf'<form[^>]*action="/turns/{failed.pk}/retry/"[^>]*>(?:(?!</form>).)*{OFFER}', html, re.DOTALL)
    assert form
    assert "hx-post" not in form[0].rpartition("<form")[2]
    key = re.findall(r'name="request_key" value="([^"]+)"', form[0])[-1]
    for _ in range(2):
        response = page.post(f"/turns/{failed.pk}/retry/", {"request_key": key, "use_default": "true"})
        assert response["Location"] == f"/c/{conversation.pk}/#newest"
    again = Turn.objects.live().get()
    assert again.model == OWN
    answer(again, "So.")
    assert branch_texts(conversation) == ["Why?", "So."]
    assert conversation.model == ""
    later = {"text": "And?", "request_key": "later", "parent": conversation.head_id}
    page.post(f"/c/{conversation.pk}/turns/", later)
    assert Turn.objects.live().get().model == OWN


def test_a_first_question_that_failed_offers_it_too(page: Client, conversation: Conversation) -> None:
    answer(ask(conversation), "", status=Turn.Status.FAILED, error_code="unknown_model")
    assert OFFER in page.get(f"/c/{conversation.pk}/#newest").content.decode()


@pytest.mark.parametrize(("error_code", "model"), [("rate_limited", GONE), ("unknown_model", "")])
def test_no_model_is_offered_that_would_help_nothing(
    page: Client, conversation: Conversation, error_code: str, model: str
) -> None:
    failed = failed_again(conversation, error_code, model=model)
    html = page.get(f"/c/{conversation.pk}/#newest").content.decode()
    assert f"/turns/{failed.pk}/retry/" in html
    assert OFFER not in html


def test_trying_again_keeps_the_conversations_model(page: Client, conversation: Conversation) -> None:
    failed = failed_again(conversation)
    page.post(f"/turns/{failed.pk}/retry/", {"request_key": "k"})
    assert Turn.objects.live().get().model == GONE
    conversation.refresh_from_db()
    assert conversation.model == GONE


def test_a_refused_retry_leaves_the_model(page: Client, conversation: Conversation) -> None:
    failed = failed_again(conversation)
    ask(conversation)
    assert page.post(f"/turns/{failed.pk}/retry/", {"use_default": "true"}).status_code == 409
    conversation.refresh_from_db()
    assert conversation.model == GONE


def test_a_stranger_changes_no_model(page: Client, stranger: User) -> None:
    theirs = make_conversation(stranger)
    failed = failed_again(theirs)
    assert page.post(f"/turns/{failed.pk}/retry/", {"use_default": "true"}).status_code == 404
    theirs.refresh_from_db()
    assert theirs.model == GONE
    assert not Turn.objects.live().exists()
