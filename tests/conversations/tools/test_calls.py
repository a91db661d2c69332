"""How calls are carried out: side by side, in time, and never to the harm of a reply."""

import asyncio
import json
import socket
import time
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_django import Settings

from conversations.models import Turn
from conversations.providers.values import ToolCall, ToolResult, ToolSpec
from conversations.tools import calls
from conversations.tools.calls import RESULT_CHARACTERS, carried_out, result_of
from conversations.tools.clock import CurrentTime
from conversations.tools.labels import label_of
from conversations.tools.values import Scene, Tool, ToolFault

SCENE = Scene(turn=Turn(), now=datetime(2026, 3, 29, 0, 59, 30, tzinfo=UTC))
WORD = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}


class Echo:
    """Says what it was given, after a while, or fails."""

    def __init__(self, *, seconds: float = 0, error: Exception | None = None, schema: dict[str, Any] = WORD) -> None:
        self.spec = ToolSpec("echo", "Echoes.", schema)
        self.seconds, self.error = seconds, error

    async def run(self, arguments: Any, scene: Scene) -> str:
        await asyncio.sleep(self.seconds)
        if self.error:
            raise self.error
        return str(arguments.get("word", ""))


def carried(arguments: str = '{"word": "a"}', *, tool: Tool | None = None, name: str = "echo") -> ToolResult:
    return asyncio.run(result_of(ToolCall("1", name, arguments), {"echo": tool or Echo()}, SCENE))


def test_a_tool_is_given_its_arguments_and_its_words_are_the_result() -> None:
    assert carried() == ToolResult("1", "echo", "a")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ('{"word": ', "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("{}", "'word' is a required property"),
        ('{"word": 1}', "at $.word"),
        ("[]", "is not of type 'object'"),
        ("", "'word' is a required property"),
    ],
)
def test_arguments_that_do_not_fit_are_told(arguments: str, words: str) -> None:
    result = carried(arguments)
    assert result.is_error
    assert words in result.text
    assert len(result.text) < 1000


def test_a_tool_that_nobody_has_is_told_with_those_there_are() -> None:
    assert carried(name="other").text == "There is no tool named other. There are: echo."


def test_a_fault_is_told_in_the_tools_own_words_and_anything_else_in_general_ones() -> None:
    assert carried(tool=Echo(error=ToolFault("There is no such city."))).text == "There is no such city."
    assert carried(tool=Echo(error=RuntimeError("password=hunter2"))).text == "The tool failed."


def test_a_schema_that_points_elsewhere_is_not_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        elsewhere.setblocking(False)
        address = f"http://127.0.0.1:{elsewhere.getsockname()[1]}/schema.json"
        assert carried(tool=Echo(schema={"$ref": address})).is_error
        with pytest.raises(BlockingIOError):  # Nobody came.
            elsewhere.accept()


def test_a_tool_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "SECONDS", 0.1)
    result = carried(tool=Echo(seconds=60))
    assert result.is_error
    assert "did not answer within 0.1 seconds" in result.text


def test_a_result_too_long_is_shortened_with_a_note() -> None:
    result = carried(json.dumps({"word": "x" * 50_000}))
    assert len(result.text) < RESULT_CHARACTERS + 100
    assert result.text.endswith("34,000 of 50,000 characters are left out.]")


def test_calls_run_side_by_side_and_each_result_comes_when_it_is_there() -> None:
    async def all_of_them() -> list[str]:
        tools = {"slow": Echo(seconds=0.4), "quick": Echo(seconds=0.1)}
        asked = [ToolCall("1", "slow", '{"word": "slow"}'), ToolCall("2", "quick", '{"word": "quick"}')]
        return [result.text async for result in carried_out(asked, tools, SCENE)]

    began = time.monotonic()
    assert asyncio.run(all_of_them()) == ["quick", "slow"]
    assert time.monotonic() - began < 0.5


def test_of_very_many_calls_the_first_are_carried_out_and_the_others_told_so() -> None:
    async def all_of_them() -> list[ToolResult]:
        asked = [ToolCall(str(number), "echo", '{"word": "a"}') for number in range(calls.MOST_AT_ONCE + 5)]
        return [result async for result in carried_out(asked, {"echo": Echo()}, SCENE)]

    results = asyncio.run(all_of_them())
    refused = [result for result in results if result.is_error]
    assert {result.call_id for result in refused} == {str(calls.MOST_AT_ONCE + number) for number in range(5)}
    assert "Too many calls at once" in refused[0].text
    assert len(results) == calls.MOST_AT_ONCE + 5


class Stubborn(Echo):
    """Does not let go when it is told to."""

    async def run(self, arguments: Any, scene: Scene) -> str:
        end = time.monotonic() + 2
        while time.monotonic() < end:
            try:
                await asyncio.sleep(2)
            except asyncio.CancelledError:
                continue
        return ""


def test_leaving_breaks_off_what_runs_even_what_does_not_let_go() -> None:
    async def left_after() -> float:
        async def read() -> None:
            results = carried_out([ToolCall("1", "s", '{"word": ""}')], {"s": Stubborn()}, SCENE)
            async with aclosing(results):
                async for _ in results:
                    pass

        reading = asyncio.create_task(read())
        await asyncio.sleep(0.1)
        began = time.monotonic()
        reading.cancel()
        await asyncio.wait([reading])
        return time.monotonic() - began

    assert asyncio.run(left_after()) < 0.8


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("UTC", "2026-03-29T00:59:30+00:00 (Sunday, time zone UTC)"),
        ("Europe/Berlin", "2026-03-29T01:59:30+01:00 (Sunday, time zone Europe/Berlin)"),
        ("America/Los_Angeles", "2026-03-28T17:59:30-07:00 (Saturday, time zone America/Los_Angeles)"),
    ],
)
def test_the_time_is_that_of_the_installation(settings: Settings, zone: str, shown: str) -> None:
    settings.TIME_ZONE = zone
    assert asyncio.run(CurrentTime().run({}, SCENE)) == shown


@pytest.mark.parametrize(
    ("name", "arguments", "status", "line"),
    [
        ("search_conversation", {"query": "bees"}, "running", "Searching this conversation for “bees”"),
        ("search_conversation", {"query": "bees"}, "done", "Searched this conversation for “bees”"),
        ("search_conversation", {"query": 1}, "failed", "Could not search this conversation"),
        ("search_conversation", "not JSON", "failed", "Could not search this conversation"),
        ("current_time", {}, "unfinished", "Could not look at the clock"),
        ("files_read", {"path": "x"}, "done", "Used files_read"),
    ],
)
def test_a_call_is_a_line_for_people(name: str, arguments: Any, status: str, line: str) -> None:
    assert label_of(name, arguments, status) == line
