"""A fact from the first turn of a conversation far larger than the window reaches the provider, and all are told."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from playwright.sync_api import expect

from accounts.models import User
from conversations import index
from conversations.models import Embedding, Message, Turn
from pocketchat.embedded.process import wait_until
from tests.browser.conftest import Visit
from tests.browser.pictures import snap
from tests.factories import exchange, make_conversation, make_user
from tests.provider import Reply
from tests.stack import Caller, OwnStack, Stack

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]

FACT = "My sister Alma moved to Lisbon in spring, and her cat is called Pixel."
QUESTION = "What is the name of my sister Alma's cat?"
TURNS = 100
LONG = "Here is what there is to say about it, at length. " * 65
"""About 800 tokens: a hundred of these are twenty times what the model of 8,192 tokens is sent."""


@pytest.fixture(scope="module")
def running(own_stack: OwnStack) -> Iterator[Stack]:
    """It recalls."""
    with own_stack(POCKETCHAT_RECALL="true") as stack:
        yield stack


def is_indexed(conversation: UUID) -> bool:
    said = Message.objects.filter(conversation=conversation, role__in=index.INDEXED_ROLES)
    return not said.filter(embedding=None).exists()


def test_a_fact_from_the_first_turn_reaches_the_provider_by_recall(stack: Stack) -> None:
    owner = make_user()
    conversation = make_conversation(owner)
    exchange(conversation, FACT, "What a lovely name.")
    for number in range(TURNS):
        exchange(conversation, f"Tell me about number {number}.", LONG)
    stack.provider.script(Reply("One."), Reply("Pixel."))
    with Caller.of(stack, owner) as caller:
        key = str(conversation.pk)
        first = caller.ask(key, "And one more thing.", parent=caller.head(key)).json()["id"]
        caller.wait(first)
        # The task that ended the turn has the index completed, in the background.
        assert wait_until(lambda: is_indexed(conversation.pk), seconds=90)
        ahead = caller.http.get(f"conversations/{key}/context", params={"prompt": QUESTION}).json()
        turn = caller.ask(key, QUESTION, parent=caller.head(key)).json()["id"]
        assert caller.wait(turn)["status"] == "complete"
        record = caller.http.get(f"turns/{turn}/context").json()
    asked = [message["content"] for message in stack.provider.requests[-1].body["messages"]]
    assert FACT not in asked
    assert FACT in asked[-1]
    assert asked[-1].endswith(QUESTION)
    fact = Message.objects.get(content__0__text=FACT).pk
    assert fact in [pk for one in record["recalled"] for pk in one["ids"]]
    assert fact not in record["sent"]
    # Not the scores: on a machine that is too busy to embed a question in time, it is asked by its words alone.
    assert [one["ids"] for one in record["recalled"]] == [one["ids"] for one in ahead["recalled"]]


def test_the_page_says_what_is_brought_back_before_and_after(
    visit: Visit, person: User, stack: Stack, pictures: Path | None
) -> None:
    conversation = make_conversation(person, title="A long talk", title_source="user")
    exchange(conversation, FACT, "What a lovely name.")
    for number in range(TURNS):
        exchange(conversation, f"Tell me about number {number}.", LONG)
    stack.provider.script(Reply("One."), Reply("Pixel."))
    page = visit.log_in(person, f"/c/{conversation.pk}/")
    visit.ask("And one more thing.")
    expect(page.locator("live-reply")).to_have_count(0)
    assert wait_until(lambda: is_indexed(conversation.pk), seconds=90)
    page.get_by_label("Message", exact=True).fill(QUESTION)
    expect(page.locator("#divider")).to_contain_text("1 earlier turn brought back.")
    page.locator("#divider-link").click()
    expect(page.locator("#panel")).to_contain_text(FACT)
    snap(page, pictures, "recall-ahead")
    page.keyboard.press("Escape")
    page.get_by_label("Message", exact=True).press("Enter")
    expect(page.locator("article.turn").last).to_contain_text("Recalled 1 earlier turn")
    expect(page.locator("article.turn").last.locator(".prose")).to_have_text("Pixel.")
    asked = stack.provider.requests[-1].body["messages"]
    assert FACT in asked[-1]["content"]
    assert FACT not in str(asked[:-1])
    page.get_by_role("link", name="What the model saw").last.click()
    expect(page.locator("#panel")).to_contain_text(FACT)
    snap(page, pictures, "recall-saw")


def test_what_a_turn_brought_is_indexed_once_it_has_ended(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("Because."))
    conversation = caller.make_conversation()
    turn = caller.ask(conversation, "Why?").json()["id"]
    caller.wait(turn)
    assert wait_until(lambda: is_indexed(UUID(conversation)), seconds=30)
    assert Embedding.objects.filter(message__turn=Turn.objects.get(pk=turn)).count() == 2
