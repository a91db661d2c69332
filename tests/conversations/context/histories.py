"""Histories for property tests: orderly ones, and any that a table could hold."""

import re
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import strategies as st

from conversations.context.assemble import as_turns
from conversations.context.values import Role, StoredMessage, StoredTurn
from conversations.providers.values import ChatMessage, Image, ToolCall, ToolResult

texts = st.one_of(st.text(max_size=6), st.sampled_from(["", " ", "\n", "[Excerpts", "?", "a" * 40]))
tokens = st.one_of(st.integers(min_value=0, max_value=60), st.sampled_from([0, 120, 400, 3000]))
call_ids = st.sampled_from(["a", "b", "c", "", "functions.look:0"])
calls = st.builds(
    ToolCall, id=call_ids, name=st.sampled_from(["look", "", "bad name!", "x" * 80]), arguments=st.just("{}")
)
results = st.builds(ToolResult, call_id=call_ids, name=st.just("look"), text=texts, is_error=st.booleans())
images = st.lists(st.just(Image("image/png", "AAAA")), max_size=2).map(tuple)

_any_message = st.builds(
    StoredMessage,
    id=st.just(0),
    role=st.sampled_from(["system", "user", "assistant", "assistant", "tool", "tool"]),
    text=texts,
    tokens=tokens,
    calls=st.lists(calls, max_size=3).map(tuple),
    results=st.lists(results, max_size=3).map(tuple),
    images=images,
    is_complete=st.booleans(),
)


def numbered(messages: Sequence[StoredMessage], *, first: int = 1) -> list[StoredMessage]:
    """With ids in their order, as a table gives them."""
    return [
        StoredMessage(number, one.role, one.text, one.tokens, one.calls, one.results, one.images, one.is_complete)
        for number, one in enumerate(messages, start=first)
    ]


def broken_branches(*, most: int = 16) -> st.SearchStrategy[list[StoredMessage]]:
    """Messages of any roles in any order; calls and results belong together or do not. Most begin with a question:
    what stands before the first is sent to nobody."""
    messages = st.lists(_any_message, max_size=most)
    asked = messages.map(lambda others: [StoredMessage(0, "user", "Look!", 10), *others])
    return st.one_of(messages, asked, asked).map(numbered)


def said(number: int, role: Role, size: int, *, complete: bool = True, chars: int = 0) -> StoredMessage:
    """A message that can be told from all others by its text."""
    text = f"<{number}>".ljust(chars, ".")
    return StoredMessage(number, role, text, size, is_complete=complete)


@st.composite
def orderly_turns(draw: st.DrawFn, *, most: int = 10, chars: int = 0) -> tuple[StoredTurn, ...]:
    """Questions with their answers; some answers never came, some broke off, some went through a tool."""
    branch: list[StoredMessage] = []
    for _ in range(draw(st.integers(min_value=0, max_value=most))):
        number = len(branch) + 1
        size = st.integers(min_value=1, max_value=150)
        length = st.integers(min_value=0, max_value=chars)
        ended = draw(st.sampled_from(["complete", "complete", "complete", "stopped", "unanswered", "tools"]))
        branch.append(said(number, "user", draw(size), chars=draw(length)))
        if ended == "tools":
            called = ToolCall(f"c{number}", "look", "{}")
            brought = ToolResult(f"c{number}", "look", f"<{number + 2}>")
            branch.append(StoredMessage(number + 1, "assistant", f"<{number + 1}>", draw(size), calls=(called,)))
            branch.append(StoredMessage(number + 2, "tool", "", draw(size), results=(brought,)))
            number += 2
        if ended != "unanswered":
            answer = said(number + 1, "assistant", draw(size), complete=ended != "stopped", chars=draw(length))
            branch.append(answer)
    return as_turns(branch)


def assert_valid(messages: Sequence[ChatMessage], *, tools: bool, images: bool, last: str = "user") -> None:
    """As every provider wants it: roles in turns, nothing empty, each call with its one result right behind it."""
    said_by = [message for message in messages if message.role != "system"]
    assert [message.role for message in messages[1:]].count("system") == 0
    assert said_by[0].role == "user"
    assert said_by[-1].role == last
    assert not said_by[-1].calls
    for before, after in pairwise(said_by):
        assert before.role != after.role
        assert (after.role == "tool") == bool(before.calls)
        assert [result.call_id for result in after.results] == [call.id for call in before.calls]
    assert all(message.text.strip() or message.calls or message.results or message.images for message in messages)
    assert all(message.text.strip() or not message.text for message in messages)
    assert all(result.text.strip() for message in messages for result in message.results)
    called = [call for message in messages for call in message.calls]
    assert len({call.id for call in called}) == len(called)
    assert all(re.fullmatch(r"[\w-]{1,64}", call.name, re.ASCII) for call in called)
    assert tools or not any(message.calls or message.results or message.role == "tool" for message in messages)
    assert all(not message.images or (images and message.role == "user") for message in messages)


def assert_begins_with(request: Sequence[ChatMessage], before: Sequence[ChatMessage]) -> None:
    """The request is the one before and something behind it. What was last may have gone on: two questions in a row
    are one message."""
    assert list(request[: len(before) - 1]) == list(before[:-1])
    went_on = request[len(before) - 1]
    assert went_on.role == before[-1].role
    assert went_on.text.startswith(before[-1].text)
    assert went_on.results == before[-1].results
