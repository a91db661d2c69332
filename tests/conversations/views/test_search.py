"""The page of results, and the way from a hit to its place."""

import re
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from conversations.models import Conversation, Message
from tests.factories import edit, exchange, make_conversation, reply_of

pytestmark = pytest.mark.django_db

HX = {"HX-Request": "true"}


def shown(response: Any) -> str:
    text: str = response.content.decode()
    return text


def test_a_hit_is_marked_and_what_it_says_is_text(page: Client, conversation: Conversation) -> None:
    exchange(conversation, "Is <script>alert(1)</script> flour?", "Yes.")
    Conversation.objects.update(title="<b>Flour</b>", title_source="user")
    results = shown(page.get("/search/", {"q": 'flour"><script>'}))
    assert "<script>" not in results.replace('<script src="', "")
    results = shown(page.get("/search/", {"q": "flour alert"}))
    assert "&lt;script&gt;<mark>alert</mark>(1)&lt;/script&gt; <mark>flour</mark>?" in results
    assert "&lt;b&gt;<mark>Flour</mark>&lt;/b&gt;" in shown(page.get("/search/", {"q": "flou"}))


def test_an_archived_one_is_marked(page: Client, conversation: Conversation) -> None:
    exchange(conversation, "Which flour?", "Rye.")
    assert "Archived</span>" not in shown(page.get("/search/", {"q": "rye"}))
    Conversation.objects.update(archived=True)
    assert "Archived</span>" in shown(page.get("/search/", {"q": "rye"}))


def test_more_come_as_a_page_or_as_a_part(page: Client, owner: User) -> None:
    for number in range(25):
        exchange(make_conversation(owner), f"flour {number}", "Yes.")
    first = shown(page.get("/search/", {"q": "flour"}))
    # Those that are called so come first, on the first page.
    more = re.search(r'href="(/search/\?q=flour&amp;after=[^"]+)"', first)
    assert more
    address = more[1].replace("&amp;", "&")
    whole, part = shown(page.get(address)), shown(page.get(address, headers=HX))
    assert [first.count('class="hit"'), whole.count('class="hit"'), part.count('class="hit"')] == [5 + 20, 5, 5]
    assert "<html" not in part
    assert page.get("/search/?q=flour&after=x")["Location"] == "/search/?q=flour"


@pytest.mark.parametrize(
    ("query", "said"),
    [("", "All of your conversations are searched"), ("😀", "Write a word"), ("zyzzyva", "Nothing has")],
)
def test_without_results_it_says_what_to_do(page: Client, query: str, said: str) -> None:
    assert said in shown(page.get("/search/", {"q": query}))


def test_a_stranger_finds_nothing(client: Client, stranger: User, conversation: Conversation) -> None:
    turn = exchange(conversation, "Which flour?")
    client.force_login(stranger)
    assert 'class="hit"' not in shown(client.get("/search/", {"q": "flour"}))
    assert client.get(f"/c/{conversation.pk}/messages/{turn.prompt_id}/").status_code == 404


def test_a_message_leads_to_its_place_on_the_newest_page(page: Client, conversation: Conversation) -> None:
    turn = exchange(conversation)
    for pk in (turn.prompt_id, reply_of(turn).pk):
        address = page.get(f"/c/{conversation.pk}/messages/{pk}/")["Location"]
        assert address == f"/c/{conversation.pk}/#message-{turn.prompt_id}"


def test_a_message_far_back_leads_to_the_page_that_shows_it(page: Client, conversation: Conversation) -> None:
    first = exchange(conversation, "The first question")
    for number in range(40):
        exchange(conversation, f"Question {number}")
    reply = reply_of(first)
    address = page.get(f"/c/{conversation.pk}/messages/{first.prompt_id}/")["Location"]
    assert address == f"/c/{conversation.pk}/?through={reply.pk}#message-{first.prompt_id}"
    text = shown(page.get(address))
    assert f'id="message-{first.prompt_id}"' in text
    assert "another version" not in text


def test_a_message_of_another_branch_is_shown_and_nothing_is_switched(page: Client, conversation: Conversation) -> None:
    first = exchange(conversation, "Which bread?", "Rye.")
    edited = edit(first.prompt, "Which butter?", "Salted.")
    head = Conversation.objects.values_list("head_id", flat=True).get()
    assert head == reply_of(edited).pk
    address = page.get(f"/c/{conversation.pk}/messages/{reply_of(first).pk}/")["Location"]
    text = shown(page.get(address))
    assert "Rye." in text
    assert "This is another version of the conversation" in text
    assert 'id="composer"' not in text
    assert Conversation.objects.values_list("head_id", flat=True).get() == head
    button = re.search(r'name="message"\s+value="(\d+)">Go on from here', text)
    assert button
    page.post(f"/c/{conversation.pk}/branch/", {"message": button[1]})
    assert Conversation.objects.values_list("head_id", flat=True).get() == reply_of(first).pk


def test_a_message_that_is_gone_is_not_found(page: Client, conversation: Conversation) -> None:
    turn = exchange(conversation)
    other = make_conversation(conversation.owner)
    for address in (
        f"/c/{conversation.pk}/messages/{turn.prompt_id + 999}/",
        f"/c/{other.pk}/messages/{turn.prompt_id}/",
    ):
        assert page.get(address).status_code == 404
    assert Message.objects.count() == 2


def test_a_page_costs_the_same_whatever_is_found(
    page: Client, owner: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """Session, person, titles, their rows, the newest that match, their messages, the sidebar's list."""
    for _ in range(2):
        for number in range(21):
            exchange(make_conversation(owner, title=f"Flour {number}", title_source="user"), "Which flour?", "Rye.")
        with django_assert_num_queries(7):
            page.get("/search/", {"q": "flour"})
