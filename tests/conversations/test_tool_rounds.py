"""A reply that calls tools, through the whole product: real processes, a provider that speaks real HTTP."""

import json
import time
from typing import Any

import pytest
from django.conf import settings
from redis import Redis

from conversations import tasks
from conversations.models import ModelCall
from tests.conversations.test_replies import asked
from tests.events import Viewer
from tests.factories import make_user
from tests.provider import Failure, Fault, HangUp, Reply, Silence, ToolCall, Usage
from tests.stack import Caller, Stack

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

LOOKING = Reply("Let me look.", tool_calls=(ToolCall("current_time"),))


def search(query: str, **more: Any) -> ToolCall:
    return ToolCall("search_conversation", json.dumps({"query": query}), **more)


def shape(caller: Caller, conversation: str) -> list[tuple[str, list[str]]]:
    """Roles, and the kinds of their blocks."""
    return [
        (message["role"], [block["type"] for block in message["content"]]) for message in caller.messages(conversation)
    ]


def follow_up(caller: Caller, conversation: str, text: str = "Go on") -> dict[str, Any]:
    turn = caller.ask(conversation, text, parent=caller.head(conversation)).json()["id"]
    return caller.wait(turn)


def tool_parts(body: Any) -> tuple[list[str], list[str]]:
    """The ids of all calls and of all results of a request in OpenAI's dialect."""
    calls = [call["id"] for message in body["messages"] for call in message.get("tool_calls") or []]
    return calls, [message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"]


def test_a_tool_is_called_its_result_sent_back_and_all_of_it_stored(stack: Stack, caller: Caller) -> None:
    stack.provider.script(
        Reply("The bees dance."),
        Reply("Let me look.", tool_calls=(search("bees"),), chunk_chars=3, usage=Usage(50, 20)),
        Reply("You asked about bees.", usage=Usage(90, 8, cached_tokens=40)),
    )
    conversation, first = asked(caller, "Tell me about bees")
    caller.wait(first)
    turn = caller.ask(conversation, "What did I ask first?", parent=caller.head(conversation)).json()["id"]
    viewer = Viewer().watch(caller.http, turn)
    assert (viewer.text, viewer.status) == ("Let me look.\n\nYou asked about bees.", "complete")
    assert shape(caller, conversation)[2:] == [
        ("user", ["text"]),
        ("assistant", ["text", "tool_use"]),
        ("tool", ["tool_result"]),
        ("assistant", ["text"]),
    ]
    _, _, question, call, result, answer = caller.messages(conversation)
    assert [call["parent"], result["parent"], answer["parent"]] == [question["id"], call["id"], result["id"]]
    assert caller.head(conversation) == answer["id"]
    assert "Tell me about bees" in result["content"][0]["content"]
    assert "The bees dance." in result["content"][0]["content"]
    assert result["content"][0]["is_error"] is False
    sent = stack.provider.requests[2].body["messages"]
    assert [message["role"] for message in sent][-3:] == ["user", "assistant", "tool"]
    assert tool_parts(stack.provider.requests[2].body)[0] == [sent[-1]["tool_call_id"]]
    ended = caller.turn(turn)
    assert (ended["input_tokens"], ended["output_tokens"], ended["cached_tokens"]) == (140, 28, 40)
    assert [(message["tokens"], message["tokens_source"]) for message in (call, answer)] == [
        (20, "usage"),
        (8, "usage"),
    ]
    assert result["tokens"] > 0
    calls = ModelCall.objects.filter(turn_id=turn).order_by("id")
    assert [(row.input_tokens, row.output_tokens, row.outcome) for row in calls] == [(50, 20, "ok"), (90, 8, "ok")]


def test_the_next_question_is_sent_with_the_calls_and_their_results(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("", tool_calls=(search("bees"), ToolCall("current_time"))), Reply("So."), Reply("Yes."))
    conversation, turn = asked(caller)
    caller.wait(turn)
    assert follow_up(caller, conversation)["status"] == "complete"
    calls, results = tool_parts(stack.provider.requests[2].body)
    assert len(calls) == 2
    assert calls == results
    assert [message["role"] for message in stack.provider.requests[2].body["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "user",
    ]


def test_viewers_see_each_call_run_and_end(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("", tool_calls=(search("wasps"), ToolCall("nothing_like_it"))), Reply("No."))
    _, turn = asked(caller)
    viewer = Viewer().watch(caller.http, turn)
    told = [(data["name"], data["status"]) for event, data in viewer.events if event == "tool"]
    assert told[:2] == [("search_conversation", "running"), ("nothing_like_it", "running")]
    assert set(told[2:]) == {("search_conversation", "done"), ("nothing_like_it", "failed")}
    searched = next(data for event, data in viewer.events if event == "tool" and data["status"] == "done")
    assert searched["label"] == "Searched this conversation for “wasps”"
    assert searched["arguments"] == {"query": "wasps"}
    assert searched["result"] == "No earlier message of this conversation mentions it."


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (ToolCall("unheard_of", "{}"), "There is no tool named unheard_of"),
        (ToolCall("search_conversation", '{"query": '), "not valid JSON"),
        (ToolCall("search_conversation", "[1]"), "do not fit"),
        (ToolCall("search_conversation", "{}"), "do not fit"),
        (ToolCall("search_conversation", '{"query": "a", "limit": 3}'), "do not fit"),
        (ToolCall("bad name!"), "There is no tool named bad_name_"),
    ],
)
def test_a_call_that_cannot_be_carried_out_is_a_result_the_model_sees(
    stack: Stack, caller: Caller, call: ToolCall, words: str
) -> None:
    stack.provider.script(Reply("", tool_calls=(call,), chunk_chars=2), Reply("I see."), Reply("Yes."))
    conversation, turn = asked(caller)
    assert caller.wait(turn)["status"] == "complete"
    result = caller.messages(conversation)[2]["content"][0]
    assert result["is_error"] is True
    assert words in result["content"]
    assert words in stack.provider.requests[1].body["messages"][-1]["content"]
    assert follow_up(caller, conversation)["status"] == "complete"


def test_a_model_that_never_answers_is_made_to_after_the_last_round(stack: Stack, caller: Caller) -> None:
    calling = Reply("", tool_calls=(ToolCall("current_time"),))
    stack.provider.script(*[calling] * settings.POCKETCHAT_TOOL_ROUNDS, Reply("It is late."))
    conversation, turn = asked(caller)
    assert caller.wait(turn)["status"] == "complete"
    assert len(stack.provider.requests) == settings.POCKETCHAT_TOOL_ROUNDS + 1
    choices = [request.body.get("tool_choice") for request in stack.provider.requests]
    assert choices[-1] == "none"
    assert "none" not in choices[:-1]
    assert caller.messages(conversation)[-1]["text"] == "It is late."


def test_a_model_that_calls_even_then_fails_with_a_sentence(stack: Stack, caller: Caller) -> None:
    stack.provider.on("Why?", Reply("", tool_calls=(ToolCall("current_time"),)))
    conversation, turn = asked(caller)
    ended = caller.wait(turn)
    assert (ended["status"], ended["error_code"]) == ("failed", "tools_only")
    assert ended["error"].endswith(".")
    assert shape(caller, conversation)[-1] == ("tool", ["tool_result"])
    stack.provider.script(Reply("Yes."))
    assert follow_up(caller, conversation)["status"] == "complete"


@pytest.mark.parametrize(
    ("fault", "code"),
    [(Failure("server"), "provider_down"), (HangUp(after=1), "dropped"), (Silence(after=1), "timed_out")],
)
def test_a_fault_after_the_tools_keeps_what_they_brought(stack: Stack, caller: Caller, fault: Fault, code: str) -> None:
    stack.provider.script(
        Reply("", tool_calls=(ToolCall("current_time"),), usage=Usage(30, 5)),
        Reply("It is late in the day", fault=fault),
        Reply("Yes."),
    )
    conversation, turn = asked(caller)
    failed = caller.wait(turn)
    assert (failed["error_code"], failed["input_tokens"], failed["output_tokens"]) == (code, 30, 5)
    assert shape(caller, conversation)[:3] == [
        ("user", ["text"]),
        ("assistant", ["tool_use"]),
        ("tool", ["tool_result"]),
    ]
    assert follow_up(caller, conversation)["status"] == "complete"
    outcomes = ModelCall.objects.filter(turn_id=turn).order_by("id").values_list("outcome", flat=True)
    assert list(outcomes) == ["ok", code]


def test_a_call_broken_off_while_it_is_written_leaves_no_trace(stack: Stack, caller: Caller) -> None:
    stack.provider.script(
        Reply("Let me", tool_calls=(search("a long query about bees"),), fault=HangUp(after=3)), Reply("Yes.")
    )
    conversation, turn = asked(caller)
    assert caller.wait(turn)["error_code"] == "dropped"
    assert shape(caller, conversation) == [("user", ["text"]), ("assistant", ["text"])]
    assert follow_up(caller, conversation)["status"] == "complete"


def test_a_call_that_never_ends_is_cut_off_and_the_words_before_it_are_kept(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("Let me see.", tool_calls=(search("x" * 1_500_000),), chunk_chars=5000))
    conversation, turn = asked(caller)
    ended = caller.wait(turn)
    assert (ended["status"], ended["error_code"]) == ("failed", "endless_reply")
    assert shape(caller, conversation) == [("user", ["text"]), ("assistant", ["text"])]


def test_stop_while_the_second_answer_streams_keeps_everything(stack: Stack, caller: Caller) -> None:
    stack.provider.script(LOOKING, Reply("word " * 2000, chunk_delay=0.02), Reply("Yes."))
    conversation, turn = asked(caller)
    seen = Viewer().watch(caller.http, turn, at_most=9)
    began = time.monotonic()
    caller.stop(turn)
    assert stack.provider.requests[1].wait_until_ended(5) == "client"
    assert time.monotonic() - began < 1
    seen.watch(caller.http, turn)
    assert seen.status == "stopped"
    assert shape(caller, conversation)[1:] == [
        ("assistant", ["text", "tool_use"]),
        ("tool", ["tool_result"]),
        ("assistant", ["text"]),
    ]
    texts = [message["text"] for message in caller.messages(conversation) if message["role"] == "assistant"]
    assert "\n\n".join(texts).strip() == seen.text.strip()
    assert follow_up(caller, conversation)["status"] == "complete"


def test_when_redis_is_emptied_between_the_rounds_viewers_still_see_it_all(stack: Stack, caller: Caller) -> None:
    stack.provider.script(LOOKING, Reply("It is " + "very " * 60 + "late.", chunk_delay=0.05))
    _, turn = asked(caller)
    viewer = Viewer().watch(caller.http, turn, at_most=6)
    with Redis.from_url(settings.REDIS_URL) as redis:
        redis.flushdb()
    late = Viewer().watch(caller.http, turn)
    viewer.watch(caller.http, turn)
    assert viewer.text == late.text == "Let me look.\n\nIt is " + "very " * 60 + "late."
    assert [(name, call["status"]) for name, call in late.calls] == [("current_time", "done")]
    assert late.calls == viewer.calls
    kinds = [event for event, _ in late.events]
    assert kinds.index("tool") < kinds.index("delta")


def test_a_killed_worker_keeps_the_rounds_and_the_words_after_them(stack: Stack, caller: Caller) -> None:
    stack.provider.script(LOOKING, Reply("word " * 2000, chunk_delay=0.02), Reply("Yes."))
    conversation, turn = asked(caller)
    viewer = Viewer().watch(caller.http, turn, at_most=30)
    stack.kill("worker")
    stack.start_worker()
    time.sleep(4.2)  # The lease of the killed worker.
    tasks.sweep()
    assert caller.wait(turn)["status"] == "interrupted"
    messages = caller.messages(conversation)
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert f"{messages[1]['text']}\n\n{messages[3]['text']}".startswith(viewer.text)
    assert all(message["tokens"] > 0 for message in messages)
    assert follow_up(caller, conversation)["status"] == "complete"


def test_a_second_attempt_that_brings_nothing_falls_back_to_the_end_of_the_first(stack: Stack, caller: Caller) -> None:
    stack.provider.script(
        Reply("", tool_calls=(ToolCall("current_time"),)), Reply("It is late."), Reply("", fault=Failure("server"))
    )
    conversation, turn = asked(caller)
    caller.wait(turn)
    head = caller.head(conversation)
    again = caller.http.post(f"turns/{turn}/regenerate").json()["id"]
    assert caller.wait(again)["status"] == "failed"
    assert caller.head(conversation) == head


def test_a_search_finds_nothing_of_other_conversations(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("A"), Reply("B"), Reply("", tool_calls=(search("hydrangea"),)), Reply("No."))
    with Caller.of(stack, make_user()) as stranger:
        _, theirs = asked(stranger, "hydrangea theirs")
        stranger.wait(theirs)
    _, other = asked(caller, "hydrangea mine, elsewhere")
    caller.wait(other)
    conversation, turn = asked(caller)
    caller.wait(turn)
    result = caller.messages(conversation)[2]["content"][0]["content"]
    assert result == "No earlier message of this conversation mentions it."


def test_no_log_holds_arguments_or_results(stack: Stack, caller: Caller) -> None:
    stack.provider.script(
        Reply("", tool_calls=(search("a secret query"), ToolCall("unknown", '{"secret": 1'))), Reply("So.")
    )
    _, turn = asked(caller, "a secret question")
    caller.wait(turn)
    for name in ("worker", "web0"):
        assert "secret" not in stack.output(name).replace("sk-secret", "")
