"""Branches through the API: siblings, going to another, asking beside what was said, deleting a version."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from conversations.models import Conversation, Message, Turn
from tests.factories import answer, ask, edit, exchange, make_conversation, regenerate, reply_of

pytestmark = pytest.mark.django_db

ROOT = "/api/v1/conversations"


def address(conversation: Conversation, path: str = "") -> str:
    return f"{ROOT}/{conversation.pk}{path}"


def messages(api: APIClient, conversation: Conversation) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get(address(conversation, "/messages")).json()["results"]
    return found


def test_every_message_says_which_version_it_is(api: APIClient, conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    second, third = regenerate(first, "A2"), regenerate(first, "A3")
    api.patch(address(conversation), {"head": reply_of(second).pk}, format="json")
    question, reply = messages(api, conversation)
    assert question["siblings"] == {"position": 1, "count": 1, "previous": None, "next": None}
    assert reply["siblings"] == {
        "position": 2,
        "count": 3,
        "previous": reply_of(first).pk,
        "next": reply_of(third).pk,
    }


def test_the_head_goes_to_where_a_branch_was_left(api: APIClient, conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    last = reply_of(exchange(conversation, "And?", "Later."))
    regenerate(first, "A2")
    changed = api.patch(address(conversation), {"head": reply_of(first).pk, "pinned": True}, format="json")
    assert (changed.status_code, changed.json()["head"], changed.json()["pinned"]) == (200, last.pk, True)
    assert [message["text"] for message in messages(api, conversation)] == ["Why?", "A1", "And?", "Later."]


@pytest.mark.parametrize(("head", "status"), [(None, 400), ("x", 400), (0, 404), (10**30, 404)])
def test_a_head_that_is_none_of_its_messages_is_refused(
    api: APIClient, conversation: Conversation, head: object, status: int
) -> None:
    exchange(conversation)
    assert api.patch(address(conversation), {"head": head}, format="json").status_code == status


def test_a_head_in_another_conversation_does_not_exist(
    api: APIClient, conversation: Conversation, stranger: User
) -> None:
    exchange(conversation)
    theirs = exchange(make_conversation(stranger))
    assert api.patch(address(conversation), {"head": theirs.prompt_id}, format="json").status_code == 404


def test_a_new_conversation_has_no_head_to_choose(api: APIClient, conversation: Conversation) -> None:
    turn = exchange(conversation)
    assert api.post(ROOT, {"head": turn.prompt_id}, format="json").status_code == 400


def test_a_question_behind_an_old_message_is_taken_as_a_branch_when_asked_for(
    api: APIClient, conversation: Conversation
) -> None:
    seen = reply_of(exchange(conversation, "One?", "First.")).pk
    later = exchange(conversation, "Two?", "Second.")
    question = {"text": "Else?", "parent": seen}
    assert api.post(address(conversation, "/turns"), question, format="json").json()["code"] == "newer_messages"
    for expected in (201, 200):
        response = api.post(
            address(conversation, "/turns"),
            question | {"branch": True},
            format="json",
            headers={"Idempotency-Key": "k"},
        )
        assert response.status_code == expected
    assert [message["text"] for message in messages(api, conversation)] == ["One?", "First.", "Else?"]
    assert messages(api, conversation)[-1]["siblings"]["previous"] == later.prompt_id


def test_a_branch_without_a_parent_is_another_beginning(api: APIClient, conversation: Conversation) -> None:
    exchange(conversation)
    api.post(address(conversation, "/turns"), {"text": "Else?", "branch": True}, format="json")
    assert [message["text"] for message in messages(api, conversation)] == ["Else?"]


def test_a_branch_behind_nothing_we_know_is_refused(api: APIClient, conversation: Conversation) -> None:
    response = api.post(address(conversation, "/turns"), {"text": "?", "parent": 1, "branch": True}, format="json")
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_any_reply_of_the_branch_is_regenerated(api: APIClient, conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    exchange(conversation, "And?", "Later.")
    response = api.post(f"/api/v1/turns/{first.pk}/regenerate")
    assert response.status_code == 201
    answer(Turn.objects.get(pk=response.json()["id"]), "A2")
    assert [message["text"] for message in messages(api, conversation)] == ["Why?", "A2"]


def test_a_version_is_deleted_and_the_head_falls_back(api: APIClient, conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    second = reply_of(regenerate(first, "A2"))
    response = api.delete(address(conversation, f"/messages/{second.pk}"))
    assert (response.status_code, response.json()["head"]) == (200, reply_of(first).pk)
    assert api.delete(address(conversation, f"/messages/{second.pk}")).status_code == 404


def test_the_only_version_is_not_deleted(api: APIClient, conversation: Conversation) -> None:
    turn = exchange(conversation)
    response = api.delete(address(conversation, f"/messages/{turn.prompt_id}"))
    assert (response.status_code, response.json()["code"]) == (409, "no_other_version")


def test_a_stranger_goes_nowhere_and_deletes_nothing(api: APIClient, stranger: User) -> None:
    theirs = make_conversation(stranger)
    first = exchange(theirs)
    second = edit(first.prompt, "Else?", "So.")
    assert api.patch(address(theirs), {"head": first.prompt_id}, format="json").status_code == 404
    assert api.delete(address(theirs, f"/messages/{first.prompt_id}")).status_code == 404
    mine = {"text": "Mine?", "parent": None, "branch": True}
    assert api.post(address(theirs, "/turns"), mine, format="json").status_code == 404
    theirs.refresh_from_db()
    assert theirs.head == reply_of(second)
    assert Message.objects.count() == 4


def test_a_reply_that_is_being_written_is_deleted_with_its_version(api: APIClient, conversation: Conversation) -> None:
    first = exchange(conversation)
    live = edit(first.prompt, "Else?")
    assert api.delete(address(conversation, f"/messages/{live.prompt_id}")).status_code == 200
    assert api.get(f"/api/v1/turns/{live.pk}").status_code == 404
    ask(conversation)
