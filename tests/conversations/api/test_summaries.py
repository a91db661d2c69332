"""The summary of a conversation for programs: the owner's, and nobody else's."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings
from rest_framework.test import APIClient

from accounts.models import User
from conversations.models import Conversation, Message, Summary
from conversations.retention import holds
from tests.conversations.summaries.living import lived
from tests.factories import exchange, make_conversation, make_summary

pytestmark = pytest.mark.django_db

NOTES = "Ann keeps bees."


@pytest.fixture(autouse=True)
def _budget(settings: Settings) -> None:
    """Room for about ten turns of twenty tokens."""
    settings.POCKETCHAT_CHAT_MODEL = "openai:scripted"
    settings.POCKETCHAT_CONTEXT_WINDOW = 4000
    settings.POCKETCHAT_HISTORY_TOKENS = 200
    settings.POCKETCHAT_RECALL = False


@pytest.fixture
def summary(conversation: Conversation) -> Summary:
    """Of what the window no longer holds."""
    record = lived(conversation, 13)[-1]
    return make_summary(Message.objects.get(pk=record.left_out[-1].ids[-1]).turn, NOTES)


def address(conversation: Conversation) -> str:
    return f"/api/v1/conversations/{conversation.pk}/summary"


def test_it_is_read_with_its_versions(api: APIClient, conversation: Conversation, summary: Summary) -> None:
    corrected = make_summary(summary.through_message.turn, "Ann kept bees.", source="user", follows=summary)
    told = api.get(address(conversation)).json()
    assert [version["id"] for version in told.pop("versions")] == [corrected.pk, summary.pk]
    assert told.pop("created_at")
    assert told == {
        "id": corrected.pk,
        "text": "Ann kept bees.",
        "through": summary.through_message_id,
        "tokens": corrected.tokens,
        "source": "user",
        "model": "",
        "is_sent": True,
        "progress": "idle",
    }


def test_one_that_was_written_ahead_is_not_sent_yet(api: APIClient, conversation: Conversation) -> None:
    turns = [exchange(conversation) for _ in range(3)]
    make_summary(turns[1], NOTES)
    assert api.get(address(conversation)).json()["is_sent"] is False


def test_it_costs_the_same_whatever_there_is(
    api: APIClient,
    conversation: Conversation,
    summary: Summary,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    # The conversation; the way to the summary, and it; the four of a context; attempts at the next one; its versions.
    with django_assert_num_queries(9):
        api.get(address(conversation))
    for number in range(5):
        summary = make_summary(summary.through_message.turn, f"Version {number}.", follows=summary)
    with django_assert_num_queries(9):
        assert len(api.get(address(conversation)).json()["versions"]) == 6


def test_it_is_corrected(api: APIClient, conversation: Conversation, summary: Summary) -> None:
    correction = {"text": "Ann keeps wasps.\0", "through": summary.through_message_id}
    told = api.put(address(conversation), correction, format="json")
    assert (told.status_code, told.json()["text"], told.json()["is_sent"]) == (200, "Ann keeps wasps.", True)
    assert [version["text"] for version in told.json()["versions"]] == ["Ann keeps wasps.", NOTES]


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"text": " "}, 422, "summary_empty"),
        ({"text": "word " * 2000}, 422, "summary_too_long"),
        ({"through": 1}, 409, "summary_changed"),
        ({"text": "w" * 100_001}, 400, "invalid"),
        ({"through": "x"}, 400, "invalid"),
    ],
)
def test_what_cannot_be_meant_changes_nothing(
    api: APIClient, conversation: Conversation, summary: Summary, change: dict[str, Any], status: int, code: str
) -> None:
    correction = {"text": "Mine.", "through": summary.through_message_id} | change
    refused = api.put(address(conversation), correction, format="json")
    assert (refused.status_code, refused.json()["code"]) == (status, code)
    assert list(Summary.objects.values_list("text", flat=True)) == [NOTES]
    if status != 400:
        facts = {"summary_changed": {"through"}, "summary_too_long": {"size", "limit", "unit"}}
        assert facts.get(code, set()) <= set(refused.json())


def test_of_what_is_held_none_is_removed(api: APIClient, conversation: Conversation, summary: Summary) -> None:
    holds.place(conversation=conversation, reason="Case 7", by=None, now=timezone.now())
    refused = api.delete(address(conversation))
    assert (refused.status_code, refused.json()["code"]) == (409, "held")
    summary.refresh_from_db()
    assert summary.text


def test_it_is_removed(api: APIClient, conversation: Conversation, summary: Summary) -> None:
    assert api.delete(address(conversation)).status_code == 204
    assert not Summary.objects.exclude(text="").exists()
    told = api.get(address(conversation)).json()
    assert (told["text"], told["versions"], told["is_sent"], told["source"]) == ("", [], False, "user")
    assert api.delete(address(conversation)).status_code == 204


def test_where_there_is_none_there_is_nothing_to_change(api: APIClient, conversation: Conversation) -> None:
    exchange(conversation)
    correction = {"text": "Mine.", "through": 1}
    assert api.get(address(conversation)).status_code == 404
    assert api.put(address(conversation), correction, format="json").status_code == 404
    assert api.delete(address(conversation)).status_code == 404


def test_a_stranger_and_the_bin_see_none(
    api: APIClient, conversation: Conversation, summary: Summary, stranger: User
) -> None:
    client = APIClient()
    client.force_authenticate(stranger)
    correction = {"text": "Mine.", "through": summary.through_message_id}

    def statuses(program: APIClient) -> set[int]:
        return {
            program.get(address(conversation)).status_code,
            program.put(address(conversation), correction, format="json").status_code,
            program.delete(address(conversation)).status_code,
        }

    assert statuses(client) == {404}
    assert statuses(APIClient()) == {401}
    Conversation.objects.filter(pk=conversation.pk).update(trashed_at=conversation.created_at)
    assert statuses(api) == {404}
    assert list(Summary.objects.values_list("text", flat=True)) == [NOTES]


def test_the_owner_switches_them_off(
    api: APIClient, conversation: Conversation, summary: Summary, stranger: User
) -> None:
    where = f"/api/v1/conversations/{conversation.pk}"
    assert api.get(where).json()["summarises"] is True
    assert api.patch(where, {"summarises": False}, format="json").json()["summarises"] is False
    assert api.get(address(conversation)).json()["is_sent"] is False
    other = make_conversation(stranger)
    assert api.patch(f"/api/v1/conversations/{other.pk}", {"summarises": False}, format="json").status_code == 404


def test_administrators_see_that_there_are_some_and_not_what_they_say(client: Client, summary: Summary) -> None:
    client.force_login(User.objects.create_superuser("admin@example.org", "x"))
    listed = client.get(reverse("admin:conversations_summary_changelist"))
    shown = client.get(reverse("admin:conversations_summary_change", args=[summary.pk]))
    assert (listed.status_code, shown.status_code) == (200, 200)
    assert str(summary.conversation_id) in listed.text
    assert NOTES not in listed.text + shown.text
    assert client.post(reverse("admin:conversations_summary_delete", args=[summary.pk])).status_code == 403
    turn = client.get(reverse("admin:conversations_turn_change", args=[summary.through_message.turn_id]))
    assert NOTES not in turn.text
