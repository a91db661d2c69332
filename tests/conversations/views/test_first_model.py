"""Which model answers the first question of a conversation: chosen before there is one."""

import re
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from conversations.models import Conversation, Turn
from conversations.providers.registry import BUNDLED

pytestmark = pytest.mark.django_db

OWN = "openai:gpt-5"
HX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def _models(settings: Settings) -> None:
    settings.POCKETCHAT_CHAT_MODEL = OWN
    settings.POCKETCHAT_BUNDLED_URL = "http://localhost:1/v1"


def shown(response: Any) -> str:
    text: str = response.content.decode()
    return text


def chosen(text: str) -> str:
    """What goes with the first question."""
    found = re.search(r'name="first_model" value="([^"]*)"', text)
    assert found, text
    return found[1]


def room(text: str) -> str:
    found = re.search(r"of ([\d,]+) <span class=\"meter-unit\">", text)
    assert found, text
    return found[1]


def test_there_is_a_menu_as_in_an_open_conversation(page: Client) -> None:
    home = shown(page.get("/"))
    assert 'formaction="/model/"' in home
    assert chosen(home) == ""
    assert page.get("/model/")["Location"] == "/"


@pytest.mark.parametrize("headers", [{}, HX])
def test_what_was_typed_stays_and_the_meter_follows(page: Client, headers: dict[str, str]) -> None:
    before = shown(page.get("/"))
    after = shown(page.post("/model/", {"text": "Why is that?", "model": BUNDLED, "first_model": ""}, headers=headers))
    assert chosen(after) == BUNDLED
    assert room(after) != room(before)
    assert ("<html" in after) is (not headers)
    assert ("Why is that?" in after) is (not headers)
    typed = shown(page.post("/context/meter/", {"text": "Why is", "first_model": BUNDLED}, headers=HX))
    assert room(typed) == room(after)
    back = shown(page.post("/model/", {"model": "", "first_model": BUNDLED}, headers=headers))
    assert chosen(back) == ""


@pytest.mark.parametrize(("model", "own", "asked"), [(BUNDLED, BUNDLED, BUNDLED), ("", "", OWN), ("openai:x", "", OWN)])
def test_it_answers_the_first_question_and_is_the_conversations(page: Client, model: str, own: str, asked: str) -> None:
    sent = {"text": "Why?", "request_key": "k", "first_model": model}
    first, again = (page.post("/", sent)["Location"] for _ in range(2))
    assert first == again
    assert Conversation.objects.get().model == own
    assert Turn.objects.get().model == asked


def test_a_refused_question_keeps_it(page: Client) -> None:
    refused = shown(page.post("/", {"text": " ", "first_model": BUNDLED}))
    assert chosen(refused) == BUNDLED


def test_with_one_model_there_is_none(page: Client, settings: Settings) -> None:
    settings.POCKETCHAT_BUNDLED_URL = ""
    assert "first_model" not in shown(page.get("/"))
