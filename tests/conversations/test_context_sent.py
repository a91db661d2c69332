"""The record of a context against what the provider really received, message by message."""

import json
from itertools import pairwise
from typing import Any

import pytest
from django.conf import settings

from conversations.context.recalled import END
from conversations.context.record import Record
from conversations.models import Message, Turn
from tests.conversations.test_replies import asked
from tests.provider import Reply, ToolCall, Usage
from tests.stack import Caller, Stack

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

TURNS = 12
SEARCH = ToolCall("search_conversation", json.dumps({"query": "zebra"}))
LONG = Reply("word " * 800, chunk_chars=4000, usage=Usage(100, 800))
"""Six of these fill the room that a model of 8,192 tokens leaves."""


def lived_through(stack: Stack, caller: Caller) -> list[Turn]:
    """A conversation in which every third turn calls a tool, to its end."""
    for number in range(TURNS):
        if number % 3 == 2:
            stack.provider.script(Reply("Let me look.", tool_calls=(SEARCH,)))
        stack.provider.script(LONG)
    conversation, turn = asked(caller, "Question 0?")
    assert caller.wait(turn)["status"] == "complete"
    for number in range(1, TURNS):
        turn = caller.ask(conversation, f"Question {number}?", parent=caller.head(conversation)).json()["id"]
        assert caller.wait(turn)["status"] == "complete"
    return list(Turn.objects.order_by("created_at"))


def as_sent(message: Message) -> list[dict[str, Any]]:
    """A stored message in the words of OpenAI's dialect, without the ids of calls."""
    results = [block for block in message.content if block["type"] == "tool_result"]
    if results:
        return [{"role": "tool", "content": block["content"]} for block in results]
    calls = [(block["name"], block["input"]) for block in message.content if block["type"] == "tool_use"]
    return [{"role": message.role, "content": message.text, **({"calls": calls} if calls else {})}]


def as_received(message: dict[str, Any]) -> dict[str, Any]:
    calls = [
        (call["function"]["name"], json.loads(call["function"]["arguments"])) for call in message.get("tool_calls", [])
    ]
    # What is brought back comes before the question; another test looks at it.
    said = (message["content"] or "").rpartition(f"{END}\n\n")[2] if message["role"] == "user" else message["content"]
    return {"role": message["role"], "content": said, **({"calls": calls} if calls else {})}


def last_requests(stack: Stack, turns: list[Turn]) -> list[list[dict[str, Any]]]:
    """The messages of each turn's last request, which its record is of."""
    bodies = iter(request.body for request in stack.provider.requests)
    found = []
    for number, _ in enumerate(turns):
        for _ in range(2 if number % 3 == 2 else 1):
            body = next(bodies)
        found.append(body["messages"])
    assert next(bodies, None) is None
    return found


def test_the_record_names_what_the_provider_received(stack: Stack, caller: Caller) -> None:
    turns = lived_through(stack, caller)
    received = last_requests(stack, turns)
    stored = {message.pk: message for message in Message.objects.order_by("pk")}
    records = []
    for turn, messages in zip(turns, received, strict=True):
        record = Record.from_json(turn.context)
        assert record is not None
        records.append(record)
        own = [message for message in stored.values() if message.turn_id == turn.pk and message.pk > turn.prompt_id]
        expected = [{"role": "system", "content": settings.POCKETCHAT_SYSTEM_PROMPT}]
        # The last of its own is the answer to this request.
        for message in [*(stored[number] for number in record.sent), *own[:-1]]:
            expected += as_sent(message)
        assert [as_received(message) for message in messages] == expected
        _assert_complete(record, turn, stored)
    assert [record.was_cut for record in records].count(True) >= 2
    _assert_between_cuts(records, received)


def _assert_complete(record: Record, turn: Turn, stored: dict[int, Message]) -> None:
    """Sent or left out: every message up to the question; and the sizes are those that are stored."""
    left_out = [number for span in record.left_out for number in span.ids]
    assert record.sent[-1] == turn.prompt_id
    before = [number for number in stored if number <= turn.prompt_id]
    named = [*left_out, *record.sent]
    assert named == sorted(before)[len(before) - len(named) :]
    assert named == sorted(before) or record.left_out[0].and_before
    assert record.tokens_of("window") == sum(stored[number].tokens for number in record.sent[:-1])
    assert record.tokens + record.reply <= record.window


def _assert_between_cuts(records: list[Record], received: list[list[dict[str, Any]]]) -> None:
    """Byte for byte, each request begins as the one before; of a turn that called tools up to its question: what it
    called is sent under the provider's own ids while it runs, and under ours from then on. What is brought back for a
    question is not sent with the next."""
    for (before, after), (earlier, record) in zip(pairwise(received), pairwise(records), strict=True):
        if not record.was_cut:
            question = max(at for at, message in enumerate(before) if message["role"] == "user")
            alike = question if earlier.recalled else question + 1
            assert json.dumps(after[:alike]) == json.dumps(before[:alike])
