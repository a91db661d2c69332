"""The addresses of a title: the owner's alone, and quiet about nonsense."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from accounts.models import User
from conversations.models import Conversation, ModelCall
from tests.factories import exchange


@pytest.fixture
def named(conversation: Conversation) -> Conversation:
    exchange(conversation, "How do I bake bread?", "With flour.")
    conversation.refresh_from_db()
    return conversation


def address(conversation: Conversation) -> str:
    return reverse("conversations:title", args=[conversation.pk])


def test_a_page_looks_again_until_a_model_was_asked(page: Client, named: Conversation) -> None:
    waiting = page.get(address(named), {"tries": "0", "looks": "1"}).content.decode()
    assert "tries=0&amp;looks=2" in waiting
    # What is shown is left alone meanwhile, and with it the focus.
    assert "conversation-title" not in waiting
    assert "entry" not in waiting
    ModelCall.objects.create(
        conversation=named, purpose="title", provider="openai", model="small", latency_ms=1, outcome="ok"
    )
    found = page.get(address(named), {"tries": "0", "looks": "2"}).content.decode()
    assert 'hx-trigger="load' not in found
    assert 'hx-swap-oob="outerHTML:div#conversation-title"' in found


def test_and_not_for_ever(page: Client, named: Conversation) -> None:
    assert 'hx-trigger="load' not in page.get(address(named), {"tries": "0", "looks": "12"}).content.decode()


@pytest.mark.parametrize("looks", ["", "x", "-1", "²", "9" * 40])
def test_nonsense_counts_as_nothing(page: Client, named: Conversation, looks: str) -> None:
    assert page.get(address(named), {"tries": looks, "looks": looks}).status_code == 200


def test_a_strangers_title_is_neither_seen_nor_suggested(client: Client, stranger: User, named: Conversation) -> None:
    client.force_login(stranger)
    assert client.get(address(named)).status_code == 404
    assert client.post(reverse("conversations:suggest_title", args=[named.pk])).status_code == 404
    assert client.get(reverse("conversations:suggest_title", args=[named.pk])).status_code == 405


def test_a_binned_conversation_has_no_title(page: Client, named: Conversation) -> None:
    Conversation.objects.filter(pk=named.pk).update(trashed_at=named.created_at)
    assert page.get(address(named)).status_code == 404


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_a_title_that_is_refused_is_still_there_to_be_shortened(
    page: Client, named: Conversation, headers: dict[str, str]
) -> None:
    typed = "Bread & butter " * 20
    rename = reverse("conversations:rename", args=[named.pk])
    refused = page.post(rename, {"title": typed}, headers=headers).content.decode()
    assert escape(typed.strip()) in refused
    assert 'aria-invalid="true"' in refused
    assert f'value="{named.title}"' in page.get(rename, headers=headers).content.decode()
