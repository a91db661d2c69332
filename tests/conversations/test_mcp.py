"""Tools of MCP servers, through the whole product: real servers, over stdio and over HTTP."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from conversations import tasks
from pocketchat.embedded.listening import free_port
from pocketchat.embedded.process import wait_until
from tests.conversations.test_replies import asked
from tests.conversations.test_tool_rounds import follow_up, shape
from tests.events import Viewer
from tests.factories import make_user
from tests.provider import Reply, ToolCall
from tests.services import second_redis_url
from tests.stack import ROOT, Caller, Stack, running_stack

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("mcp")]

SERVER = [sys.executable, "-m", "tests.mcp_server"]


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Of a server over HTTP."""
    port = free_port()
    with subprocess.Popen([*SERVER, "http", str(port)], cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        assert wait_until(lambda: _answers(port), seconds=30)
        yield port
        process.kill()


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/mcp", timeout=2).status_code > 0
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def serving(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory, port: int
) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("mcp")
    servers = {
        "here": {"command": SERVER[0], "args": [*SERVER[1:], "stdio"], "cwd": str(ROOT), "env": {"GIVEN": "${HANDED}"}},
        "there": {"url": f"http://127.0.0.1:{port}/mcp"},
        "down": {"url": f"http://127.0.0.1:{free_port()}/mcp"},
        "broken": {"command": "/nonexistent/program"},
    }
    (folder / "servers.json").write_text(json.dumps({"mcpServers": servers}))
    with django_db_blocker.unblock():
        context = running_stack(
            folder,
            REDIS_URL=second_redis_url(),
            POCKETCHAT_MCP_SERVERS=str(folder / "servers.json"),
            HANDED="handed down",
            POCKETCHAT_LEASE="4",
        )
    with context as stack:
        yield stack


@pytest.fixture
def caller(serving: Stack, transactional_db: None) -> Iterator[Caller]:
    serving.provider.forget()
    with Caller.of(serving, make_user("caller@example.org")) as program:
        yield program


def call(name: str, /, **arguments: object) -> ToolCall:
    return ToolCall(name, json.dumps(arguments))


def results(caller: Caller, conversation: str) -> list[tuple[str, bool]]:
    return [
        (block["content"], block["is_error"])
        for message in caller.messages(conversation)
        for block in message["content"]
        if block["type"] == "tool_result"
    ]


@pytest.mark.parametrize("server", ["here", "there"])
def test_a_tool_of_a_server_is_offered_and_called(serving: Stack, caller: Caller, server: str) -> None:
    serving.provider.script(Reply("", tool_calls=(call(f"{server}_forecast", city="Rome"),)), Reply("Sunny."))
    conversation, turn = asked(caller)
    assert caller.wait(turn)["status"] == "complete"
    assert results(caller, conversation) == [("Sunny in Rome", False)]
    offered = {tool["function"]["name"] for tool in serving.provider.requests[0].body["tools"]}
    assert {"search_conversation", "current_time", f"{server}_forecast", f"{server}_hang"} <= offered
    assert not any(name.startswith(("down", "broken")) for name in offered)


def test_a_server_that_is_away_has_one_line_in_the_log(serving: Stack, caller: Caller) -> None:
    for _ in range(2):
        serving.provider.script(Reply("So."))
        _, turn = asked(caller)
        assert caller.wait(turn)["status"] == "complete"
    lines = [line for line in serving.output("worker").splitlines() if "mcp_server_not_used" in line]
    assert sorted(json.loads(line)["server"] for line in lines) == ["broken", "down"]


def test_a_refusal_of_a_server_is_a_result_the_model_sees(serving: Stack, caller: Caller) -> None:
    serving.provider.script(
        Reply("", tool_calls=(call("here_refuse"), call("there_forecast", town=1))), Reply("I see.")
    )
    conversation, turn = asked(caller)
    assert caller.wait(turn)["status"] == "complete"
    (refused, is_error), (unfit, is_unfit) = results(caller, conversation)
    assert is_error
    assert is_unfit
    assert "The secret station is closed." in refused
    assert "'city' is a required property" in unfit


def test_calls_of_one_round_run_side_by_side_and_are_stored_in_their_order(serving: Stack, caller: Caller) -> None:
    serving.provider.script(
        Reply(
            "", tool_calls=(call("here_slow", seconds=1.5, word="last"), call("there_slow", seconds=1.5, word="first"))
        ),
        Reply("So."),
    )
    conversation, turn = asked(caller)
    viewer = Viewer().watch(caller.http, turn)
    assert viewer.status == "complete"
    assert results(caller, conversation) == [("last", False), ("first", False)]
    made, answered = (serving.provider.requests[number].arrived_at for number in (0, 1))
    assert answered - made < 2.8


def test_stop_breaks_off_a_hanging_tool_within_a_second_and_the_next_question_is_valid(
    serving: Stack, caller: Caller
) -> None:
    serving.provider.script(
        Reply("Let me look.", tool_calls=(call("here_hang"), call("there_hang"), call("here_forecast", city="Rome"))),
        Reply("Yes."),
    )
    conversation, turn = asked(caller)
    seen = Viewer()
    while not any(state["status"] == "done" for _, state in seen.calls):
        assert not seen.watch(caller.http, turn, at_most=1).status, caller.turn(turn)
    began = time.monotonic()
    caller.stop(turn)
    assert caller.wait(turn)["status"] == "stopped"
    assert time.monotonic() - began < 1.5
    assert shape(caller, conversation)[1:] == [
        ("assistant", ["text", "tool_use", "tool_use", "tool_use"]),
        ("tool", ["tool_result"]),
    ]
    assert follow_up(caller, conversation)["status"] == "complete"
    sent = serving.provider.requests[1].body["messages"]
    asked_for = [one["id"] for message in sent for one in message.get("tool_calls") or []]
    returned = {message["tool_call_id"]: message["content"] for message in sent if message["role"] == "tool"}
    assert list(returned) == asked_for
    assert [text for text in returned.values() if "broken off" not in text] == ["Sunny in Rome"]
    assert "here_forecast" in {one["function"]["name"] for message in sent for one in message.get("tool_calls") or []}


def test_a_killed_worker_in_a_tool_call_leaves_a_conversation_that_goes_on(serving: Stack, caller: Caller) -> None:
    serving.provider.script(Reply("", tool_calls=(call("here_hang"),)), Reply("Yes."))
    conversation, turn = asked(caller)
    Viewer().watch(caller.http, turn, at_most=2)
    serving.kill("worker")
    serving.start_worker()
    time.sleep(4.2)  # The lease of the killed worker.
    tasks.sweep()
    assert caller.turn(turn)["status"] == "interrupted"
    assert shape(caller, conversation)[1:] == [("assistant", ["tool_use"])]
    assert follow_up(caller, conversation)["status"] == "complete"


def test_a_result_too_long_is_shortened_with_a_note(serving: Stack, caller: Caller) -> None:
    serving.provider.script(Reply("", tool_calls=(call("there_much"),)), Reply("So."))
    conversation, turn = asked(caller)
    assert caller.wait(turn)["status"] == "complete"
    text, _ = results(caller, conversation)[0]
    assert len(text) < 17_000
    assert text.endswith("of 100,000 characters are left out.]")


def test_a_server_sees_what_it_was_handed_and_none_of_our_secrets(serving: Stack, caller: Caller) -> None:
    names = ("GIVEN", "SECRET_KEY", "DATABASE_URL", "POCKETCHAT_CHAT_API_KEY")
    serving.provider.script(
        Reply("", tool_calls=tuple(call("here_environment", name=name) for name in names)), Reply("So.")
    )
    conversation, turn = asked(caller)
    caller.wait(turn)
    assert [text for text, _ in results(caller, conversation)] == ["handed down", "nothing", "nothing", "nothing"]


def test_nothing_a_server_says_is_in_a_log(serving: Stack, caller: Caller) -> None:
    serving.provider.script(
        Reply("", tool_calls=(call("here_forecast", city="secret Rome"), call("there_forecast", city="secret Oslo"))),
        Reply("So."),
    )
    conversation, turn = asked(caller)
    caller.wait(turn)
    assert ["secret" in text for text, _ in results(caller, conversation)] == [True, True]
    assert "secret" not in serving.output("worker").replace("sk-secret", "")
