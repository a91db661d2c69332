"""Branches through the whole product: what the model sees, and what becomes of a reply that makes way."""

import time

import pytest

from conversations import branches, handing_over
from conversations.models import Message, ModelCall, Turn
from conversations.streams import shown
from tests.events import Viewer
from tests.provider import Reply
from tests.stack import Caller, Stack

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

ENDLESS = Reply("word " * 4000, chunk_delay=0.03)


def answered(caller: Caller, response_id: str) -> str:
    caller.wait(response_id)
    return response_id


def streaming(caller: Caller, text: str = "Why?") -> tuple[str, str]:
    """A conversation whose reply has shown its first words."""
    conversation = caller.make_conversation()
    turn = caller.ask(conversation, text).json()["id"]
    Viewer().watch(caller.http, turn, at_most=20)
    return conversation, turn


def test_the_model_sees_the_chosen_branch_and_nothing_of_the_others(stack: Stack, caller: Caller) -> None:
    stack.provider.script(*(Reply(text) for text in ("A1", "Later.", "A2", "Yes.", "No.")))
    conversation = caller.make_conversation()
    first = answered(caller, caller.ask(conversation, "Why?").json()["id"])
    answered(caller, caller.ask(conversation, "And?", parent=caller.head(conversation)).json()["id"])
    left = caller.head(conversation)
    answered(caller, caller.http.post(f"turns/{first}/regenerate").json()["id"])
    answered(caller, caller.ask(conversation, "Sure?", parent=caller.head(conversation)).json()["id"])
    caller.http.patch(f"conversations/{conversation}", json={"head": left})
    answered(caller, caller.ask(conversation, "Sure?", parent=left).json()["id"])
    sent = [[message["content"] for message in request.body["messages"]][1:] for request in stack.provider.requests]
    assert sent[2:] == [["Why?"], ["Why?", "A2", "Sure?"], ["Why?", "A1", "And?", "Later.", "Sure?"]]


def test_an_edit_ends_the_reply_to_its_question_within_a_second_and_keeps_what_was_shown(
    stack: Stack, caller: Caller
) -> None:
    stack.provider.script(ENDLESS, Reply("So."))
    conversation, live = streaming(caller)
    question = Message.objects.get(turn_id=live, role="user")
    began = time.monotonic()
    asked = branches.edit(question, text="Why so?", request_key="e", model="openai:scripted", shown=shown)
    handing_over.take_on(asked)
    assert stack.provider.requests[0].wait_until_ended() == "client"
    assert time.monotonic() - began < 1.5
    answered(caller, str(asked.turn.pk))
    assert caller.turn(live)["status"] == "stopped"
    kept = Message.objects.get(turn_id=live, role="assistant").text
    assert kept.startswith("word word")
    viewer = Viewer().watch(caller.http, live)
    assert viewer.status == "stopped"
    assert [message["text"] for message in caller.messages(conversation)] == ["Why so?", "So."]


def test_a_reply_deleted_while_it_is_written_closes_its_connection_and_leaves_nothing(
    stack: Stack, caller: Caller
) -> None:
    stack.provider.script(Reply("A1"), ENDLESS, Reply("Yes."))
    conversation = caller.make_conversation()
    answered(caller, caller.ask(conversation, "Why?").json()["id"])
    kept = caller.head(conversation)
    live = caller.http.post(
        f"conversations/{conversation}/turns", json={"text": "Why so?", "parent": None, "branch": True}
    ).json()
    Viewer().watch(caller.http, live["id"], at_most=20)
    began = time.monotonic()
    response = caller.http.delete(f"conversations/{conversation}/messages/{live['prompt']}")
    assert (response.status_code, response.json()["head"]) == (200, kept)
    assert stack.provider.requests[1].wait_until_ended() == "client"
    assert time.monotonic() - began < 1.5
    answered(caller, caller.ask(conversation, "Sure?", parent=kept).json()["id"])
    time.sleep(1.5)  # A late writer saves once a second.
    assert [message["text"] for message in caller.messages(conversation)] == ["Why?", "A1", "Sure?", "Yes."]
    assert Message.objects.count() == 4
    assert Turn.objects.count() == ModelCall.objects.count() == 2
