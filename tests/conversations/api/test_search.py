"""`GET search`: what it says of a hit, and to whom."""

import pytest
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from accounts.models import User
from conversations.models import Conversation
from tests.factories import exchange, make_conversation, reply_of

pytestmark = pytest.mark.django_db

ROOT = "/api/v1/search"


def test_a_hit_says_where_it_stands_and_what_matches(api: APIClient, conversation: Conversation) -> None:
    turn = exchange(conversation, "Which flour?", "Rye <b>flour</b> & water.")
    Conversation.objects.update(title="Bread", title_source="user", archived=True)
    found = api.get(ROOT, {"q": "rye flo"}).json()
    [hit] = found["results"]
    reply = reply_of(turn)
    assert hit | {"excerpt": 0, "page": 0, "created_at": 0} == {
        "id": reply.pk,
        "conversation": str(conversation.pk),
        "title": "Bread",
        "archived": True,
        "role": "assistant",
        "created_at": 0,
        "excerpt": 0,
        "page": 0,
    }
    assert "".join(part["text"] for part in hit["excerpt"]) == reply.text
    assert [part["text"] for part in hit["excerpt"] if part["is_match"]] == ["Rye", "flour"]
    assert hit["page"].endswith(f"/c/{conversation.pk}/messages/{reply.pk}/")
    assert (found["titles"], found["next"]) == ([], None)


def test_a_list_is_narrowed_to_titles(api: APIClient, owner: User, stranger: User) -> None:
    named = [make_conversation(owner, title=title, title_source="user") for title in ("Bread with Rye", "Bees", "Rye")]
    Conversation.objects.filter(pk=named[2].pk).update(archived=True)
    make_conversation(stranger, title="Rye", title_source="user")
    for query, expected in (
        ({"q": "rye"}, named[:1]),
        ({"q": "ry", "archived": "true"}, named[2:]),
        ({"q": "oats"}, []),
    ):
        found = api.get("/api/v1/conversations", query).json()["results"]
        assert [one["id"] for one in found] == [str(one.pk) for one in expected]
    assert api.get("/api/v1/conversations", {"q": "…"}).json()["code"] == "query_empty"


def test_titles_come_with_the_first_page_alone(api: APIClient, owner: User) -> None:
    made = make_conversation(owner, title="Bread with rye", title_source="user")
    for number in range(3):
        exchange(made, f"rye {number}", "Yes.")
    first = api.get(f"{ROOT}?q=rye&limit=2").json()
    assert [hit["conversation"]["id"] for hit in first["titles"]] == [str(made.pk)]
    assert [part["text"] for part in first["titles"][0]["title"] if part["is_match"]] == ["rye"]
    assert len(first["results"]) == 2
    second = api.get(first["next"]).json()
    assert second["titles"] == []
    assert len(second["results"]) == 1
    assert second["next"] is None


def test_a_stranger_finds_nothing_and_a_visitor_is_told_to_log_in(stranger: User, conversation: Conversation) -> None:
    exchange(conversation, "Which flour?")
    foreign = APIClient()
    assert foreign.get(ROOT, {"q": "flour"}).status_code == 401
    foreign.force_authenticate(stranger)
    assert foreign.get(ROOT, {"q": "flour"}).json() == {"next": None, "titles": [], "results": []}


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({}, 400, "invalid"),
        ({"q": ""}, 422, "query_empty"),
        ({"q": " … 😀"}, 422, "query_empty"),
        ({"q": "x" * 501}, 400, "invalid"),
        ({"q": "x", "limit": 101}, 400, "invalid"),
        ({"q": "x", "cursor": "x"}, 400, "invalid"),
    ],
)
def test_nonsense_is_refused(api: APIClient, query: dict[str, str | float], status: int, code: str) -> None:
    response = api.get(ROOT, query)
    assert (response.status_code, response.json()["code"]) == (status, code)


def test_a_page_costs_the_same_whatever_is_found(
    api: APIClient, owner: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(2):
        for number in range(4):
            exchange(make_conversation(owner, title=f"Flour {number}", title_source="user"), "Which flour?", "Rye.")
        with django_assert_num_queries(4):
            api.get(f"{ROOT}?q=flour&limit=3")
