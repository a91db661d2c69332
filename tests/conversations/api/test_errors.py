"""Every error of the API has its one shape, also those that come before any view."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from conversations.models import Conversation
from tests.factories import ask

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "path",
    ["/api/v1/nothing", "/api/v1/conversations/", "/api/v1/turns/not-a-uuid", "/api/v1/conversations/1/messages"],
)
def test_an_address_that_is_none_is_not_found_in_json(api: APIClient, path: str) -> None:
    response = api.get(path)
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_a_wrong_method_on_events_hears_of_the_right_one(conversation: Conversation) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(conversation.owner)
    response = client.post(f"/api/v1/turns/{ask(conversation).pk}/events")
    assert (response.status_code, response.json()["code"], response["Allow"]) == (405, "method_not_allowed", "GET")


def test_json_nested_beyond_measure_is_the_senders_mistake(api: APIClient, conversation: Conversation) -> None:
    body = "[" * 100_000 + "]" * 100_000
    response = api.post(f"/api/v1/conversations/{conversation.pk}/turns", body, content_type="application/json")
    assert (response.status_code, response.json()["code"]) == (400, "parse_error")


@pytest.mark.parametrize("header", ["Token \xff", "Token \u00e9\u00e9", "\xff"])
def test_a_token_of_no_letters_we_use_is_none_of_ours(header: str, client: Any) -> None:
    response = client.get("/api/v1/conversations", headers={"Authorization": header})
    assert (response.status_code, response.json()["code"]) == (401, "bad_token")


@pytest.mark.parametrize("charset", ["hex", "rot13", "utf-16", "nothing"])
def test_a_form_in_a_charset_of_no_browser_is_refused(charset: str, page: Any) -> None:
    kind = f"application/x-www-form-urlencoded; charset={charset}"
    assert page.generic("POST", "/", "text=Hello", content_type=kind).status_code == 415
