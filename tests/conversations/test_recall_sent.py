"""A fact from the first turn of a conversation far larger than the window reaches the provider, and all are told."""

from collections.abc import Iterator
from uuid import UUID

import pytest
from django.test import Client

from conversations import index
from conversations.models import Conversation, Embedding, Message, Turn
from pocketchat.embedded.process import wait_until
from tests.factories import exchange, make_conversation, make_user
from tests.provider import Reply
from tests.stack import Caller, OwnStack, Stack

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

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
    assert record["recalled"] == ahead["recalled"]
    assert "Recalled" in page_of(conversation)


def page_of(conversation: Conversation) -> str:
    client = Client()
    client.force_login(conversation.owner)
    return client.get(f"/c/{conversation.pk}/").content.decode()


def test_what_a_turn_brought_is_indexed_once_it_has_ended(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("Because."))
    conversation = caller.make_conversation()
    turn = caller.ask(conversation, "Why?").json()["id"]
    caller.wait(turn)
    assert wait_until(lambda: is_indexed(UUID(conversation)), seconds=30)
    assert Embedding.objects.filter(message__turn=Turn.objects.get(pk=turn)).count() == 2
