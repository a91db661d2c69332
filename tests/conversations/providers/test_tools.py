"""Calls of tools and their results, in both dialects, to a provider that refuses what real ones refuse."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from pytest_django import Settings

from conversations.context.assemble import as_turns, assemble
from conversations.context.values import Budget, Past, StoredMessage, SystemPrompt, Toolbox
from conversations.providers.registry import BUNDLED, chat_model
from conversations.providers.values import (
    CallDelta,
    ChatEvent,
    ChatMessage,
    ChatRequest,
    Finished,
    Image,
    TextDelta,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from tests.conversations.context.histories import broken_branches
from tests.conversations.providers.test_chat import model_of
from tests.provider import HangUp, Reply, ScriptedProvider
from tests.provider import ToolCall as Scripted

images = st.lists(
    st.builds(
        Image,
        media_type=st.sampled_from(["image/png", "image/jpeg", "image/tiff", ""]),
        data=st.sampled_from(["iVBORw0KGgo=", "/9j/4AA=", "%%%", "", "aGVsbG8="]),
    ),
    max_size=2,
).map(tuple)
LOOK = ToolSpec("look", "Looks for words.", {"type": "object", "properties": {"at": {"type": "string"}}})
USER = ChatMessage("user", "Look!")


def ask(dialect: str, provider: ScriptedProvider, *messages: ChatMessage, must_answer: bool = False) -> list[ChatEvent]:
    request = ChatRequest(messages or (USER,), max_tokens=100, tools=(LOOK,), must_answer=must_answer)

    async def collected() -> list[ChatEvent]:
        model = model_of(dialect, provider)
        async with model.connections():
            return [event async for event in model.stream(request)]

    return asyncio.run(collected())


def calls_of(events: list[ChatEvent]) -> list[ToolCall]:
    return [event for event in events if isinstance(event, ToolCall)]


def test_a_call_is_counted_while_it_is_written(dialect: str, provider: ScriptedProvider) -> None:
    arguments = json.dumps({"at": "x" * 1000})
    provider.script(Reply("", tool_calls=(Scripted("look", arguments),), chunk_chars=10))
    deltas = [event for event in ask(dialect, provider) if isinstance(event, CallDelta)]
    assert len(deltas) > 50
    assert sum(delta.characters for delta in deltas) == len("look") + len(arguments)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_calls_come_whole_behind_the_words_however_they_were_cut(
    dialect: str, provider: ScriptedProvider, size: int
) -> None:
    arguments = json.dumps({"at": "日本 🐝"})
    scripted = (Scripted("look", arguments, id="one"), Scripted("look", "{}", id="two"))
    provider.script(Reply("Let me see.", tool_calls=scripted, chunk_chars=size, chunk_bytes=7))
    events = ask(dialect, provider)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "Let me see."
    assert [(call.id, call.name) for call in calls_of(events)] == [("one", "look"), ("two", "look")]
    assert [json.loads(call.arguments) for call in calls_of(events)] == [{"at": "日本 🐝"}, {}]
    assert isinstance(events[-1], Finished)


def test_calls_are_told_apart_and_named_so_that_they_can_be_sent_back(dialect: str, provider: ScriptedProvider) -> None:
    provider.script(
        Reply("", tool_calls=(Scripted("look", id="same"), Scripted("bad name!", id="same"))),
        Reply("", tool_calls=(Scripted("look", id="same"),)),
        Reply("So."),
    )
    messages = [USER]
    for _ in range(2):
        events = ask(dialect, provider, *messages)
        finished, calls = events[-1], calls_of(events)
        assert isinstance(finished, Finished)
        results = tuple(ToolResult(call.id, call.name, "seen") for call in calls)
        messages += [
            ChatMessage("assistant", "", calls=tuple(calls), native=finished.native),
            ChatMessage("tool", "", results=results),
        ]
    sent = [call.id for message in messages for call in message.calls]
    assert len(set(sent)) == 3
    assert isinstance(ask(dialect, provider, *messages)[-1], Finished)


def test_tools_and_the_failure_of_one_reach_the_provider(dialect: str, provider: ScriptedProvider) -> None:
    provider.script(Reply("So."))
    call, result = ToolCall("a", "look", '{"at": "x"}'), ToolResult("a", "look", "It failed.", is_error=True)
    ask(
        dialect,
        provider,
        USER,
        ChatMessage("assistant", "Hm.", calls=(call,)),
        ChatMessage("tool", "", results=(result,)),
    )
    body = provider.requests[0].body
    told = json.dumps(body)
    assert "Looks for words." in told
    assert "It failed." in told
    assert "tool_choice" not in body or body["tool_choice"] in ("auto", {"type": "auto"})
    if dialect == "anthropic":
        assert body["messages"][-1]["content"][0]["is_error"] is True


def test_a_model_that_must_answer_knows_the_tools_and_may_call_none(dialect: str, provider: ScriptedProvider) -> None:
    provider.script(Reply("So."))
    ask(dialect, provider, must_answer=True)
    body = provider.requests[0].body
    assert len(body["tools"]) == 1
    assert body["tool_choice"] in ("none", {"type": "none"})


def test_arguments_that_are_no_json_are_passed_on_and_can_be_sent_back(
    dialect: str, provider: ScriptedProvider
) -> None:
    if dialect == "anthropic":
        pytest.skip("its server builds the object itself")
    provider.script(Reply("", tool_calls=(Scripted("look", '{"at": '),)), Reply("So."))
    events = ask(dialect, provider)
    call, finished = calls_of(events)[0], events[-1]
    assert call.arguments == '{"at": '
    assert isinstance(finished, Finished)
    answer = ChatMessage("assistant", "", calls=(call,), native=finished.native)
    result = ChatMessage("tool", "", results=(ToolResult(call.id, "look", "No JSON.", is_error=True),))
    assert isinstance(ask(dialect, provider, USER, answer, result)[-1], Finished)


def test_a_call_that_breaks_off_is_none(dialect: str, provider: ScriptedProvider) -> None:
    provider.script(Reply("", tool_calls=(Scripted("look", '{"at": "far away"}'),), fault=HangUp(after=1, how="end")))
    with pytest.raises(Exception, match="dropped"):
        ask(dialect, provider)


@pytest.fixture(scope="module")
def lasting() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as scripted:
        yield scripted


@pytest.mark.parametrize("name", ["openai", "anthropic"])
@examples(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(branch=broken_branches(), images=st.lists(images, max_size=5), with_tools=st.booleans(), sees=st.booleans())
def test_any_stored_transcript_is_taken_by_the_provider(
    name: str,
    lasting: ScriptedProvider,
    branch: list[StoredMessage],
    images: list[tuple[Image, ...]],
    with_tools: bool,
    sees: bool,
) -> None:
    pictured = [replace(message, images=shown) for message, shown in zip(branch, images, strict=False)]
    request = assemble(
        Past(as_turns([*pictured, *branch[len(pictured) :]])),
        StoredMessage(10_000, "user", "Why?", 10),
        system=SystemPrompt("Be brief.", 5),
        budget=Budget(window=8000, reply=100, history=6000),
        tools=Toolbox((LOOK,), 20) if with_tools else Toolbox(),
        takes_images=sees,
    ).request
    lasting.script(Reply("So."))

    async def answered() -> ChatEvent:
        model = model_of(name, lasting)
        async with model.connections():
            return [event async for event in model.stream(request)][-1]

    assert isinstance(asyncio.run(answered()), Finished)


def test_the_bundled_model_and_one_that_is_said_to_take_none_get_no_tools(settings: Settings) -> None:
    settings.POCKETCHAT_BUNDLED_URL = settings.POCKETCHAT_CHAT_BASE_URL = "http://localhost:1"
    settings.POCKETCHAT_CHAT_MODEL = "openai:model"
    for offered in (True, False):
        settings.POCKETCHAT_TOOLS = offered
        chat_model.cache_clear()
        assert chat_model("openai:model").takes_tools is offered
        assert not chat_model(BUNDLED).takes_tools
    chat_model.cache_clear()
