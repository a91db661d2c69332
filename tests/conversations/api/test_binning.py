"""`DELETE` and `restore`: the owner's alone, and hidden from every other address at once."""

from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from accounts.models import User
from conversations import binning
from conversations.models import Conversation, Hold, Message, Turn
from tests.factories import ask, exchange, make_conversation, reply_of
from tests.ruling import rule

pytestmark = pytest.mark.django_db

ROOT = "/api/v1/conversations"


def ids(api: APIClient, query: str = "") -> list[str]:
    return [row["id"] for row in api.get(f"{ROOT}{query}").json()["results"]]


@pytest.fixture
def foreign(stranger: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(stranger)
    return client


def test_deleted_it_is_in_the_bin_and_nowhere_else_and_restored_it_is_back(
    api: APIClient, conversation: Conversation
) -> None:
    turn = exchange(conversation)
    address = f"{ROOT}/{conversation.pk}"
    row = api.delete(address).json()
    until = datetime.fromisoformat(row["restorable_until"]) - datetime.fromisoformat(row["trashed_at"])
    assert until == timedelta(days=30)
    assert (ids(api), ids(api, "?archived=true"), ids(api, "?trashed=true")) == ([], [], [str(conversation.pk)])
    for path in ("", "/messages", "/context", "/recall?q=why", "/summary"):
        assert api.get(address + path).json()["code"] == "not_found", path
    for path in (f"/api/v1/turns/{turn.pk}", f"/api/v1/turns/{turn.pk}/context"):
        assert api.get(path).json()["code"] == "not_found", path
    assert api.get("/api/v1/search?q=why").json()["results"] == []
    assert api.patch(address, {"pinned": True}, format="json").status_code == 404
    restored = api.post(f"{address}/restore").json()
    assert (restored["trashed_at"], restored["restorable_until"]) == (None, None)
    assert (ids(api), ids(api, "?trashed=true")) == ([str(conversation.pk)], [])


def test_deleting_and_restoring_again_changes_nothing(api: APIClient, conversation: Conversation) -> None:
    address = f"{ROOT}/{conversation.pk}"
    first, again = (api.delete(address).json() for _ in range(2))
    assert first == again
    first, again = (api.post(f"{address}/restore").json() for _ in range(2))
    assert first == again


def test_a_reply_that_is_being_written_is_stopped(api: APIClient, conversation: Conversation) -> None:
    ask(conversation)
    api.delete(f"{ROOT}/{conversation.pk}")
    assert Turn.objects.get().status == "stopped"


def test_now_it_is_gone_for_good_from_the_list_or_from_the_bin(api: APIClient, owner: User) -> None:
    for is_binned in (False, True):
        conversation = make_conversation(owner)
        exchange(conversation)
        if is_binned:
            api.delete(f"{ROOT}/{conversation.pk}")
        assert api.delete(f"{ROOT}/{conversation.pk}?now=true").status_code == 204
        assert not Message.objects.exists()
        assert api.delete(f"{ROOT}/{conversation.pk}?now=true").status_code == 404
        assert api.post(f"{ROOT}/{conversation.pk}/restore").status_code == 404


def test_a_stranger_neither_deletes_nor_restores(
    api: APIClient, foreign: APIClient, conversation: Conversation
) -> None:
    address = f"{ROOT}/{conversation.pk}"
    named, everything = f"{ROOT}?id={conversation.pk}", f"{ROOT}?all=true"
    for query in ("", "?now=true"):
        assert foreign.delete(address + query).status_code == 404
    for query in (named, f"{named}&now=true", everything, f"{everything}&now=true"):
        assert foreign.delete(query).json() == {"deleted": 0, "held": []}
    api.delete(address)
    assert foreign.post(f"{address}/restore").status_code == 404
    assert foreign.post(f"{ROOT}/restore?id={conversation.pk}").json() == {"restored": 0}
    assert foreign.post(f"{ROOT}/restore?all=true").json() == {"restored": 0}
    assert foreign.delete(f"{ROOT}?all=true&trashed=true&now=true").json() == {"deleted": 0, "held": []}
    assert ids(foreign, "?trashed=true") == []
    assert Conversation.objects.get().trashed_at


def test_a_visitor_is_told_to_log_in(conversation: Conversation) -> None:
    visitor = APIClient()
    for path in ("", f"/{conversation.pk}"):
        assert visitor.delete(ROOT + path).status_code == 401
    for path in ("/restore", f"/{conversation.pk}/restore"):
        assert visitor.post(ROOT + path).status_code == 401


def test_many_are_deleted_and_restored_together(api: APIClient, owner: User, stranger: User) -> None:
    mine = [make_conversation(owner, archived=number == 2) for number in range(3)]
    theirs = make_conversation(stranger)
    some = f"?id={mine[0].pk}&id={mine[2].pk}&id={theirs.pk}&id={uuid4()}"
    assert api.delete(ROOT + some).json() == {"deleted": 2, "held": []}
    assert ids(api) == [str(mine[1].pk)]
    assert api.post(f"{ROOT}/restore{some}").json() == {"restored": 2}
    assert api.delete(f"{ROOT}?all=true").json()["deleted"] == 3
    assert Conversation.objects.filter(trashed_at=None).get() == theirs


def test_the_bin_is_emptied_alone(api: APIClient, owner: User) -> None:
    kept, binned = make_conversation(owner), make_conversation(owner)
    api.delete(f"{ROOT}/{binned.pk}")
    assert api.delete(f"{ROOT}?all=true&trashed=true").status_code == 400
    assert api.delete(f"{ROOT}?all=true&trashed=true&now=true").json()["deleted"] == 1
    assert Conversation.objects.get() == kept


@pytest.mark.parametrize("query", ["", "?all=false", "?id=x", "?all=perhaps", "?id={0}&all=true"])
def test_all_are_only_deleted_by_saying_so(api: APIClient, conversation: Conversation, query: str) -> None:
    response = api.delete(ROOT + query.format(conversation.pk))
    assert (response.status_code, response.json()["code"]) == (400, "invalid")
    assert not Conversation.objects.get().trashed_at


def test_more_than_are_taken_at_once_are_refused(api: APIClient) -> None:
    many = "&".join(f"id={UUID(int=number)}" for number in range(201))
    response = api.delete(f"{ROOT}?{many}")
    assert response.status_code == 400
    assert "200" in response.json()["detail"]


def test_what_is_held_is_kept_and_named(api: APIClient, owner: User, conversation: Conversation) -> None:
    Hold.objects.create(conversation=conversation, reason="A dispute.")
    for query in ("", "?now=true"):
        refused = api.delete(f"{ROOT}/{conversation.pk}{query}")
        assert (refused.status_code, refused.json()["code"]) == (409, "held")
    make_conversation(owner)
    assert api.delete(f"{ROOT}?all=true").json() == {"deleted": 1, "held": [str(conversation.pk)]}


def test_the_bin_is_listed_the_last_deleted_first_a_page_at_a_time(
    api: APIClient, owner: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    now = timezone.now()
    made = [make_conversation(owner, pinned=number == 3) for number in range(7)]
    for number, one in enumerate(made):
        binning.put(one, now + timedelta(seconds=number))
    seen: list[str] = []
    address = f"{ROOT}?trashed=true&limit=3"
    while address:
        with django_assert_num_queries(1):
            page = api.get(address).json()
        seen += [row["id"] for row in page["results"]]
        address = page["next"]
    assert seen == [str(one.pk) for one in reversed(made)]
    # A cursor of one list is none of another.
    cursor = api.get(f"{ROOT}?trashed=true&limit=3").json()["next"].split("cursor=")[1].split("&")[0]
    assert api.get(f"{ROOT}?cursor={cursor}").status_code == 400


def test_its_reply_cannot_be_stopped_or_written_again(api: APIClient, conversation: Conversation) -> None:
    turn = exchange(conversation)
    assert reply_of(turn)
    api.delete(f"{ROOT}/{conversation.pk}")
    for verb in ("stop", "regenerate"):
        assert api.post(f"/api/v1/turns/{turn.pk}/{verb}").status_code == 404


def test_without_a_bin_it_is_gone_at_once(api: APIClient, conversation: Conversation) -> None:
    rule(bin_days=0)
    assert api.delete(f"{ROOT}/{conversation.pk}").status_code == 204
    assert not Conversation.objects.exists()
