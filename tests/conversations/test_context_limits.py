"""Replies whose context meets the limits of a provider, in both dialects: real requests to a scripted provider."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from pytest_django import DjangoDbBlocker, Settings

from accounts.models import User
from conversations.context.record import Record
from conversations.models import Message, ModelCall, Turn
from conversations.providers.registry import BUNDLED
from tests.factories import make_conversation
from tests.provider import Failure, Reply, ScriptedProvider, ToolCall, Usage, prompt_tokens
from tests.talk import Talk, Worker, running_worker

pytestmark = pytest.mark.django_db(transaction=True)

MODELS = {"openai": "openai:scripted", "anthropic": "anthropic:claude-opus-4-8", "bundled": ""}
TOO_LONG = Reply("", fault=Failure("context_too_long"))


@dataclass
class Place:
    """A process that answers, the provider it asks, and in which dialect."""

    kind: str
    provider: ScriptedProvider
    worker: Worker


@pytest.fixture(scope="module", params=["openai", "anthropic"])
def place(request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Place]:
    kind = request.param
    with ScriptedProvider() as provider, django_db_blocker.unblock():
        url = provider.anthropic_url if kind == "anthropic" else provider.openai_url
        chosen = {"POCKETCHAT_CHAT_BASE_URL": url, "POCKETCHAT_CHAT_API_KEY": "sk"} if MODELS[kind] else {}
        context = running_worker(POCKETCHAT_CHAT_MODEL=MODELS[kind], POCKETCHAT_BUNDLED_URL=url, **chosen)
        with context as worker:
            yield Place(kind, provider, worker)


@pytest.fixture
def provider(place: Place) -> ScriptedProvider:
    place.provider.forget()
    return place.provider


@pytest.fixture
def talk(place: Place, owner: User, settings: Settings) -> Talk:
    settings.POCKETCHAT_CHAT_MODEL = MODELS[place.kind]
    return Talk(make_conversation(owner), MODELS[place.kind] or BUNDLED, place.worker)


def record_of(turn: Turn) -> Record:
    record = Record.from_json(turn.context)
    assert record
    return record


def said(request: Any) -> str:
    return json.dumps(request.body["messages"])


def test_what_is_too_long_is_asked_again_with_less(talk: Talk, provider: ScriptedProvider) -> None:
    provider.script(*[Reply(f"Answer {number}. " + "word " * 200) for number in range(4)], TOO_LONG, Reply("So."))
    for number in range(4):
        talk.ask(f"Question {number}?")
    turn = talk.ask("And in short?")
    assert turn.status == Turn.Status.COMPLETE
    assert Message.objects.get(turn=turn, role="assistant").text == "So."
    *_, refused, smaller = provider.requests
    assert len(provider.requests) == 6
    assert "Question 0?" in said(refused)
    assert "Question 0?" not in said(smaller)
    assert "And in short?" in said(smaller)
    assert len(said(smaller)) < 0.6 * len(said(refused))
    record = record_of(turn)
    assert record.was_tightened
    assert record.left_out[0].reason == "history_budget"
    calls = ModelCall.objects.filter(turn=turn).order_by("id")
    assert [call.outcome for call in calls] == ["context_too_long", "ok"]
    assert [call.input_tokens for call in calls] == [None, turn.input_tokens]


def test_a_second_refusal_is_the_end_with_its_sentence(talk: Talk, provider: ScriptedProvider) -> None:
    provider.script(Reply("word " * 200), Reply("word " * 200), TOO_LONG, TOO_LONG, Reply("Not asked."))
    talk.ask("Why?")
    talk.ask("And?")
    turn = talk.ask("And in short?")
    assert (turn.status, turn.error_code) == (Turn.Status.FAILED, "context_too_long")
    assert len(provider.requests) == 4
    calls = ModelCall.objects.filter(turn=turn).order_by("id")
    assert [call.outcome for call in calls] == ["context_too_long", "context_too_long"]
    assert record_of(turn).was_tightened


def test_where_nothing_can_be_left_out_nothing_is_asked_again(talk: Talk, provider: ScriptedProvider) -> None:
    provider.script(TOO_LONG, Reply("Not asked."))
    turn = talk.ask("Why?")
    assert (turn.status, turn.error_code) == (Turn.Status.FAILED, "context_too_long")
    assert len(provider.requests) == 1
    assert not record_of(turn).was_tightened
    assert ModelCall.objects.get(turn=turn).outcome == "context_too_long"


def test_after_the_first_word_nothing_is_asked_again(talk: Talk, provider: ScriptedProvider) -> None:
    broken = Reply("Well, then", chunk_chars=4, fault=Failure("context_too_long", after=2))
    provider.script(Reply("word " * 200), broken, Reply("Not asked."))
    talk.ask("Why?")
    turn = talk.ask("And?")
    assert turn.status == Turn.Status.FAILED
    assert len(provider.requests) == 2
    assert Message.objects.get(turn=turn, role="assistant").text.startswith("Well")


def test_a_round_of_tools_that_is_too_long_is_asked_again_with_less(talk: Talk, provider: ScriptedProvider) -> None:
    provider.script(
        Reply("word " * 400),
        Reply("Let me look.", tool_calls=(ToolCall("current_time"),)),
        TOO_LONG,
        Reply("", tool_calls=(ToolCall("current_time"),)),
        Reply("It is late."),
    )
    talk.ask("Why?")
    turn = talk.ask("How late is it?")
    assert turn.status == Turn.Status.COMPLETE
    sizes = [len(said(request)) for request in provider.requests]
    assert sizes[3] < sizes[2]
    assert sizes[4] < sizes[2], "what follows stays small"
    roles = [message.role for message in Message.objects.filter(turn=turn).order_by("id")]
    assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    outcomes = ModelCall.objects.filter(turn=turn).order_by("id").values_list("outcome", flat=True)
    assert list(outcomes) == ["ok", "context_too_long", "ok", "ok"]
    provider.script(Reply("Yes."))
    assert talk.ask("Go on").status == Turn.Status.COMPLETE


def test_a_turn_is_made_smaller_once(talk: Talk, provider: ScriptedProvider) -> None:
    calling = Reply("", tool_calls=(ToolCall("current_time"),))
    provider.script(Reply("word " * 400), Reply("word " * 400), TOO_LONG, calling, TOO_LONG, Reply("Not asked."))
    talk.ask("Why?")
    talk.ask("And?")
    turn = talk.ask("How late is it?")
    assert (turn.status, turn.error_code) == (Turn.Status.FAILED, "context_too_long")
    assert len(provider.requests) == 5


def test_the_questions_of_a_conversation_are_measured(talk: Talk, provider: ScriptedProvider) -> None:
    for text in ("Why?", "And wasps, do they dance as well?", "It dances, it waits; what is it?"):
        talk.ask(text)
    first, second, third = Message.objects.filter(role="user").order_by("id")
    assert first.tokens_source == "estimate"
    bodies = [request.body for request in provider.requests]
    answer = Message.objects.filter(role="assistant").first()
    assert answer
    for question, before, now in ((second, bodies[0], bodies[1]), (third, bodies[1], bodies[2])):
        assert question.tokens_source == "usage"
        assert question.tokens == prompt_tokens(now) - prompt_tokens(before) - answer.tokens


def test_a_round_of_tools_between_leaves_the_next_question_an_estimate(talk: Talk, provider: ScriptedProvider) -> None:
    provider.script(Reply("", tool_calls=(ToolCall("current_time"),)), Reply("Late."), Reply("Yes."), Reply("No."))
    turn = talk.ask("How late is it?")
    assert record_of(turn).reported == prompt_tokens(provider.requests[1].body), "of the request it describes"
    assert turn.input_tokens == sum(prompt_tokens(request.body) for request in provider.requests)
    assert talk.ask("Really?").prompt.tokens_source == "estimate"
    assert Message.objects.get(pk=talk.ask("Surely?").prompt_id).tokens_source == "usage"


def test_reasoning_that_is_told_apart_is_left_out_of_an_answers_tokens(
    talk: Talk, provider: ScriptedProvider, settings: Settings
) -> None:
    usage = Usage(100, 60, reasoning_tokens=50)
    provider.script(Reply("Because.", reasoning="Hm, let me see.", usage=usage))
    talk.ask("Why?")
    answer = Message.objects.get(role="assistant")
    told_apart = settings.POCKETCHAT_CHAT_MODEL.startswith("openai")
    assert (answer.tokens, answer.tokens_source) == ((10, "usage") if told_apart else (answer.tokens, "estimate"))


def test_a_server_that_reads_the_end_alone_is_noticed(talk: Talk, provider: ScriptedProvider) -> None:
    provider.script(Reply("So.", usage=Usage(2048, 3)))
    turn = talk.ask("word " * 6000)
    record = record_of(turn)
    assert (record.reported, record.truncated) == (2048, True)
    assert turn.status == Turn.Status.COMPLETE


def test_what_came_from_a_cache_is_no_alarm(talk: Talk, provider: ScriptedProvider) -> None:
    provider.script(Reply("So.", usage=Usage(6100, 3, cached_tokens=6000)))
    record = record_of(talk.ask("word " * 6000))
    assert (record.reported, record.truncated) == (6100, False)


def test_a_script_whose_estimate_is_far_too_high_is_no_alarm(talk: Talk, provider: ScriptedProvider) -> None:
    provider.script(Reply("So.", usage=Usage(2400, 3)))
    turn = talk.ask("नमस्ते दुनिया " * 500)
    assert turn.prompt.tokens > 5000
    assert not record_of(turn).truncated


@pytest.mark.parametrize("place", ["bundled"], indirect=True)
def test_a_conversation_that_outgrows_the_bundled_model_goes_on(talk: Talk, provider: ScriptedProvider) -> None:
    provider.on("Question", Reply("word " * 700))
    records = [record_of(talk.ask(f"Question {number}? " + "word " * 200)) for number in range(16)]
    assert sum(record.was_cut for record in records) >= 2
    assert all(record.reported and record.reported + record.reply <= 8192 for record in records)
    assert all(record.tokens + record.reply <= 8192 for record in records)
    starts = [record.start for record in records]
    assert starts == sorted(starts)
    assert len(set(starts)) < len(starts) / 2, "the window moves in steps"
    assert records[-1].left_out
