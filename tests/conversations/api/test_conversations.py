"""`/api/v1/conversations` and what is asked in them."""

import re
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings
from rest_framework.test import APIClient

from accounts.models import User
from conversations.api import urls as api_urls
from conversations.models import Conversation, Message, Turn
from tests.factories import ask, exchange, make_conversation

pytestmark = pytest.mark.django_db

ROOT = "/api/v1/conversations"


def test_a_visitor_is_told_to_log_in() -> None:
    response = APIClient().get(ROOT)
    assert response.status_code == 401
    assert response.json()["code"] == "not_authenticated"


def test_the_list_holds_mine_alone_newest_first(api: APIClient, owner: User, stranger: User) -> None:
    older, newer = make_conversation(owner), make_conversation(owner)
    make_conversation(stranger)
    exchange(older)
    found = [row["id"] for row in api.get(ROOT).json()["results"]]
    assert found == [str(older.pk), str(newer.pk)]


def test_pages_go_on_to_the_end_however_many_there_are_and_whatever_is_added(api: APIClient, owner: User) -> None:
    made = {str(make_conversation(owner).pk) for _ in range(25)}
    seen: list[str] = []
    address = f"{ROOT}?limit=2"
    while address:
        page = api.get(address).json()
        seen += [row["id"] for row in page["results"]]
        address = page["next"]
        make_conversation(owner)
    assert len(seen) == len(set(seen))
    assert set(seen) == made


def test_a_cursor_we_did_not_make_is_refused(api: APIClient) -> None:
    response = api.get(f"{ROOT}?cursor=x")
    assert (response.status_code, response.json()["code"]) == (400, "invalid")


def test_one_is_made_once_for_one_key(api: APIClient) -> None:
    first, again = (api.post(ROOT, {}, format="json", headers={"Idempotency-Key": "k"}) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]


def test_a_key_does_not_bring_back_what_is_in_the_bin(api: APIClient) -> None:
    key = {"Idempotency-Key": "once"}
    api.post(ROOT, {"title": "Forget me"}, format="json", headers=key)
    Conversation.objects.update(trashed_at=timezone.now())
    again = api.post(ROOT, {"title": "Forget me"}, format="json", headers=key)
    assert (again.status_code, again.json()["code"]) == (404, "not_found")


def test_a_key_that_began_another_conversation_is_refused(api: APIClient) -> None:
    key = {"Idempotency-Key": "once"}
    first = api.post(ROOT, {"title": "One"}, format="json", headers=key)
    other = api.post(ROOT, {"title": "Another"}, format="json", headers=key)
    assert (other.status_code, other.json()["code"]) == (422, "key_reused")
    assert other.json()["conversation"] == first.json()["id"]


def test_a_change_writes_only_what_was_sent(api: APIClient, conversation: Conversation) -> None:
    """A reply may move the head between the reading and the writing of a change."""
    with CaptureQueriesContext(connection) as queries:
        api.patch(f"{ROOT}/{conversation.pk}", {"pinned": True}, format="json")
    written = [query["sql"] for query in queries if query["sql"].startswith("UPDATE")]
    assert len(written) == 1
    assert "pinned" in written[0]
    assert "head_id" not in written[0]
    assert "last_activity_at" not in written[0]


def test_archived_ones_are_listed_apart(api: APIClient, owner: User) -> None:
    archived = make_conversation(owner, archived=True)
    assert api.get(ROOT).json()["results"] == []
    for yes in ("true", "1", "True"):
        assert [row["id"] for row in api.get(f"{ROOT}?archived={yes}").json()["results"]] == [str(archived.pk)]
    assert api.get(f"{ROOT}?archived=perhaps").status_code == 400


def test_one_is_made_with_a_title_and_a_system_prompt_of_its_own(api: APIClient) -> None:
    made = api.post(ROOT, {"title": "Bees", "system_prompt": "Answer in rhyme."}, format="json")
    assert made.status_code == 201
    row = made.json()
    assert (row["title"], row["title_source"], row["system_prompt"]) == ("Bees", "user", "Answer in rhyme.")


def test_a_conversation_is_renamed_pinned_and_archived(api: APIClient, conversation: Conversation) -> None:
    changed = api.patch(f"{ROOT}/{conversation.pk}", {"title": "Mine", "pinned": True, "archived": True}, format="json")
    assert changed.status_code == 200
    conversation.refresh_from_db()
    assert (conversation.title, conversation.title_source) == ("Mine", "user")
    assert conversation.pinned
    assert conversation.archived


def test_a_system_prompt_too_large_is_refused_with_its_size_and_the_limit(
    api: APIClient, conversation: Conversation
) -> None:
    for response in (
        api.post(ROOT, {"system_prompt": "word " * 2000}, format="json"),
        api.patch(f"{ROOT}/{conversation.pk}", {"system_prompt": "word " * 2000, "title": "No"}, format="json"),
    ):
        told = response.json()
        assert response.status_code == 422
        assert (told["code"], told["size"], told["limit"], told["unit"]) == (
            "system_prompt_too_long",
            2040,
            1500,
            "tokens",
        )
    assert Conversation.objects.get().title == conversation.title
    assert api.patch(f"{ROOT}/{conversation.pk}", {"system_prompt": "word " * 1400}, format="json").status_code == 200


def test_a_model_too_small_for_the_system_prompt_is_refused(
    api: APIClient, conversation: Conversation, settings: Settings
) -> None:
    settings.POCKETCHAT_BUNDLED_URL = "http://localhost:1/v1"
    settings.POCKETCHAT_CHAT_MODEL = "openai:gpt-5"
    settings.POCKETCHAT_MODELS = '{"bundled:smollm2-135m": {"system": 100}}'
    address = f"{ROOT}/{conversation.pk}"
    assert api.patch(address, {"system_prompt": "word " * 200}, format="json").status_code == 200
    assert api.patch(address, {"model": "bundled:smollm2-135m"}, format="json").status_code == 422
    both = {"model": "bundled:smollm2-135m", "system_prompt": "Be brief."}
    assert api.patch(address, both, format="json").status_code == 200


def test_a_title_too_long_is_refused_by_name_and_limit(api: APIClient, conversation: Conversation) -> None:
    response = api.patch(f"{ROOT}/{conversation.pk}", {"title": "x" * 201}, format="json")
    assert response.status_code == 400
    assert response.json()["code"] == "invalid"
    assert "title" in response.json()["detail"]
    assert "200" in response.json()["detail"]


def test_what_no_database_takes_is_mended_not_refused(api: APIClient, conversation: Conversation) -> None:
    response = api.patch(f"{ROOT}/{conversation.pk}", {"title": "a\x00b"}, format="json")
    assert response.json()["title"] == "ab"


@pytest.mark.parametrize("method", ["get", "patch"])
def test_a_strangers_conversation_does_not_exist(api: APIClient, stranger: User, method: str) -> None:
    theirs = make_conversation(stranger)
    for address in (f"{ROOT}/{theirs.pk}", f"{ROOT}/{uuid4()}"):
        response = getattr(api, method)(address, {"title": "Mine"}, format="json")
        assert response.status_code == 404
        assert response.json()["code"] == "not_found"


def test_one_in_the_bin_is_in_no_list_and_has_no_page(api: APIClient, conversation: Conversation) -> None:
    exchange(conversation)
    Conversation.objects.update(trashed_at=conversation.created_at)
    assert api.get(ROOT).json()["results"] == []
    for path in ("", "/messages"):
        assert api.get(f"{ROOT}/{conversation.pk}{path}").status_code == 404


def test_messages_come_newest_page_first_in_order(api: APIClient, conversation: Conversation) -> None:
    for number in range(5):
        exchange(conversation, f"Q{number}", f"A{number}")
    newest = api.get(f"{ROOT}/{conversation.pk}/messages?limit=4").json()
    assert [message["text"] for message in newest["results"]] == ["Q3", "A3", "Q4", "A4"]
    older = api.get(f"{ROOT}/{conversation.pk}/messages?limit=20&before={newest['before']}").json()
    assert [message["text"] for message in older["results"]] == ["Q0", "A0", "Q1", "A1", "Q2", "A2"]
    assert older["before"] is None


@pytest.mark.parametrize("query", ["limit=0", "limit=1000", "before=x", "before=-1"])
def test_a_senseless_page_of_messages_is_refused(api: APIClient, conversation: Conversation, query: str) -> None:
    response = api.get(f"{ROOT}/{conversation.pk}/messages?{query}")
    assert response.status_code == 400
    assert response.json()["code"] == "invalid"


def test_messages_before_one_of_another_conversation_are_not_found(
    api: APIClient, conversation: Conversation, stranger: User
) -> None:
    exchange(conversation)
    elsewhere = exchange(make_conversation(stranger))
    response = api.get(f"{ROOT}/{conversation.pk}/messages?before={elsewhere.prompt_id + 1}")
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_a_question_is_taken_once(api: APIClient, conversation: Conversation) -> None:
    address = f"{ROOT}/{conversation.pk}/turns"
    first = api.post(address, {"text": "Why?"}, format="json", headers={"Idempotency-Key": "k"})
    again = api.post(address, {"text": "Why?"}, format="json", headers={"Idempotency-Key": "k"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    assert Turn.objects.count() == 1


def test_a_key_that_named_another_question_is_refused_and_nothing_is_lost(
    api: APIClient, conversation: Conversation
) -> None:
    address, key = f"{ROOT}/{conversation.pk}/turns", {"Idempotency-Key": "k"}
    first = api.post(address, {"text": "Why?"}, format="json", headers=key)
    other = api.post(address, {"text": "Why not?"}, format="json", headers=key)
    assert (other.status_code, other.json()["code"], other.json()["turn"]) == (422, "key_reused", first.json()["id"])


def test_a_key_that_named_a_question_does_not_name_a_second_answer(api: APIClient, conversation: Conversation) -> None:
    turn = exchange(conversation)
    again = api.post(f"/api/v1/turns/{turn.pk}/regenerate", headers={"Idempotency-Key": turn.request_key})
    assert (again.status_code, again.json()["code"]) == (422, "key_reused")


def test_a_question_into_a_busy_conversation_is_told_the_running_turn(
    api: APIClient, conversation: Conversation
) -> None:
    running = ask(conversation)
    response = api.post(f"{ROOT}/{conversation.pk}/turns", {"text": "And?", "parent": running.prompt_id}, format="json")
    assert response.status_code == 409
    assert response.json() | {"detail": ""} == {"detail": "", "code": "conversation_busy", "turn": str(running.pk)}


def test_a_question_behind_an_old_message_is_told_the_newest(api: APIClient, conversation: Conversation) -> None:
    exchange(conversation)
    response = api.post(f"{ROOT}/{conversation.pk}/turns", {"text": "And?", "parent": None}, format="json")
    conversation.refresh_from_db()
    assert response.status_code == 409
    assert (response.json()["code"], response.json()["head"]) == ("newer_messages", conversation.head_id)


def test_a_question_too_long_is_refused_with_size_and_limit(api: APIClient, conversation: Conversation) -> None:
    response = api.post(f"{ROOT}/{conversation.pk}/turns", {"text": "x" * 200_000}, format="json")
    assert response.status_code == 413
    assert response.json()["code"] == "prompt_too_long"
    assert (response.json()["size"], response.json()["limit"]) == (200_000, settings.POCKETCHAT_PROMPT_CHARACTERS)
    assert not Message.objects.exists()


def test_a_question_beyond_the_models_window_is_refused_in_tokens(api: APIClient, conversation: Conversation) -> None:
    response = api.post(f"{ROOT}/{conversation.pk}/turns", {"text": "word " * 15_000}, format="json")
    assert response.status_code == 422
    assert response.json()["unit"] == "tokens"
    assert response.json()["size"] > response.json()["limit"]


@pytest.mark.parametrize("body", [{"text": ""}, {"text": "  \n "}, {"text": "\x00"}])
def test_an_empty_question_is_refused(api: APIClient, conversation: Conversation, body: dict[str, str]) -> None:
    response = api.post(f"{ROOT}/{conversation.pk}/turns", body, format="json")
    assert (response.status_code, response.json()["code"]) == (422, "prompt_empty")


@pytest.mark.parametrize("body", [{}, {"text": None}, {"text": "Why?", "parent": "x"}, {"text": ["a"]}, []])
def test_a_malformed_question_is_refused_by_name(api: APIClient, conversation: Conversation, body: object) -> None:
    response = api.post(f"{ROOT}/{conversation.pk}/turns", body, format="json")
    assert response.status_code == 400
    assert response.json()["code"] == "invalid"


@pytest.mark.parametrize("key", ["", "x" * 201])
def test_a_senseless_key_is_refused(api: APIClient, conversation: Conversation, key: str) -> None:
    response = api.post(
        f"{ROOT}/{conversation.pk}/turns", {"text": "Why?"}, format="json", headers={"Idempotency-Key": key}
    )
    assert response.status_code == 400
    assert not Turn.objects.exists()


def test_json_that_is_none_is_an_error_with_a_code(api: APIClient, conversation: Conversation) -> None:
    response = api.post(f"{ROOT}/{conversation.pk}/turns", "{broken", content_type="application/json")
    assert (response.status_code, response.json()["code"]) == (400, "parse_error")


def test_the_schema_describes_every_call(api: APIClient) -> None:
    paths = api.get("/api/v1/schema/?format=json", headers={"accept": "application/vnd.oai.openapi+json"}).json()[
        "paths"
    ]
    patterns = [str(pattern.pattern) for pattern in api_urls.urlpatterns if pattern.name != "schema"]
    addresses = {"/api/v1/" + re.sub(r"<\w+:(\w+)>", r"{\1}", pattern) for pattern in patterns}
    described = set(paths)
    assert described == addresses
    listed, removed = paths[ROOT], paths[f"{ROOT}/{{conversation_id}}/messages/{{message_id}}"]
    assert {one["name"] for one in listed["get"]["parameters"]} == {"archived", "cursor", "limit", "q", "trashed"}
    assert [one["name"] for one in listed["post"]["parameters"]] == ["Idempotency-Key"]
    assert (set(listed["post"]["responses"]), set(removed["delete"]["responses"])) == ({"200", "201"}, {"200"})


def test_a_page_of_messages_costs_the_same_whatever_the_length(
    api: APIClient, conversation: Conversation, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(3):
        exchange(conversation)
    for _ in range(2):
        with django_assert_num_queries(5):
            api.get(f"{ROOT}/{conversation.pk}/messages?limit=50")
        for _ in range(20):
            exchange(conversation)


def test_a_title_is_suggested_to_the_owner_alone(api: APIClient, conversation: Conversation, stranger: User) -> None:
    address = f"{ROOT}/{conversation.pk}/title"
    response = api.post(address)
    assert (response.status_code, response.json()["id"]) == (202, str(conversation.pk))
    other = APIClient()
    other.force_authenticate(stranger)
    assert other.post(address).status_code == 404
