"""One streamed request, to a provider that really speaks HTTP."""

import asyncio
import time
from contextlib import aclosing

import pytest

from conversations.providers.chat import StreamedChatModel, connect
from conversations.providers.errors import SENTENCES, ProviderError
from conversations.providers.values import (
    ChatEvent,
    ChatMessage,
    ChatModelInfo,
    ChatRequest,
    Finished,
    TextDelta,
    ThinkingDelta,
)
from tests.provider import Failure, HangUp, Reply, ScriptedProvider, Silence, Usage

ASKED = (ChatMessage("system", "Be brief."), ChatMessage("user", "Why?"))
MODELS = {"openai": "openai:scripted", "anthropic": "anthropic:claude-opus-4-8"}


def model_of(dialect: str, provider: ScriptedProvider, *, silence: float = 5.0) -> StreamedChatModel:
    name, url = MODELS[dialect], getattr(provider, f"{dialect}_url")
    info = ChatModelInfo(name=name, label="scripted", provider=dialect, window=8192)
    return connect(info, base_url=url, key="sk-test", silence=silence)


def ask(
    dialect: str, provider: ScriptedProvider, *messages: ChatMessage, max_tokens: int = 100, silence: float = 5.0
) -> list[ChatEvent]:
    async def collected() -> list[ChatEvent]:
        model = model_of(dialect, provider, silence=silence)
        async with model.connections():
            return [event async for event in model.stream(ChatRequest(messages or ASKED, max_tokens=max_tokens))]

    return asyncio.run(collected())


def text_of(events: list[ChatEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def test_the_words_come_as_they_are_made_and_the_end_comes_last(dialect: str, provider: ScriptedProvider) -> None:
    provider.script(Reply("Because of 日本 and 🐝.", chunk_chars=3, chunk_bytes=1))
    events = ask(dialect, provider)
    assert text_of(events) == "Because of 日本 and 🐝."
    assert len(events) > 4
    assert isinstance(events[-1], Finished)
    assert sum(isinstance(event, Finished) for event in events) == 1


def test_the_end_tells_what_the_provider_counted(dialect: str, provider: ScriptedProvider) -> None:
    provider.script(Reply("Because.", usage=Usage(input_tokens=120, output_tokens=7, cached_tokens=100)))
    end = ask(dialect, provider)[-1]
    assert isinstance(end, Finished)
    assert (end.input_tokens, end.output_tokens, end.cached_tokens) == (120, 7, 100)
    assert not end.was_cut_off


def test_anthropic_is_asked_to_keep_the_beginning_of_a_request(provider: ScriptedProvider) -> None:
    provider.script(Reply("So."))
    ask("anthropic", provider)
    body = provider.requests[-1].body
    assert body["system"][-1]["cache_control"]["type"] == "ephemeral"
    assert body["messages"][-1]["content"][-1]["cache_control"]["type"] == "ephemeral"


def test_a_provider_that_counts_nothing_is_not_taken_to_have_counted_zero(provider: ScriptedProvider) -> None:
    provider.script(Reply("Because.", reports_usage=False))
    end = ask("openai", provider)[-1]
    assert isinstance(end, Finished)
    assert (end.input_tokens, end.output_tokens, end.cost) == (None, None, None)


def test_a_model_with_a_public_price_costs_something(provider: ScriptedProvider) -> None:
    provider.script(Reply("Because."))
    end = ask("anthropic", provider)[-1]
    assert isinstance(end, Finished)
    assert end.cost is not None
    assert end.cost > 0


def test_an_answer_that_reached_its_limit_says_so(dialect: str, provider: ScriptedProvider) -> None:
    provider.script(Reply("Beca", finish="length"))
    end = ask(dialect, provider)[-1]
    assert isinstance(end, Finished)
    assert end.was_cut_off


def test_reasoning_is_kept_apart_from_the_answer(dialect: str, provider: ScriptedProvider) -> None:
    provider.script(Reply("Because.", reasoning="Let me think."))
    events = ask(dialect, provider)
    assert text_of(events) == "Because."
    assert "".join(event.text for event in events if isinstance(event, ThinkingDelta)) == "Let me think."


def test_the_provider_receives_what_the_request_says(provider: ScriptedProvider) -> None:
    provider.script(Reply("So."))
    earlier = (*ASKED, ChatMessage("assistant", "Because."), ChatMessage("user", "And?"))
    ask("openai", provider, *earlier, max_tokens=321)
    body = provider.requests[0].body
    assert [(message["role"], message["content"]) for message in body["messages"]] == [
        ("system", "Be brief."),
        ("user", "Why?"),
        ("assistant", "Because."),
        ("user", "And?"),
    ]
    assert 321 in (body.get("max_tokens"), body.get("max_completion_tokens"))


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Failure("authentication"), "bad_key"),
        (Failure("model_not_found"), "unknown_model"),
        (Failure("rate_limit", retry_after=30), "rate_limited"),
        (Failure("server"), "provider_down"),
        (Failure("overloaded"), "provider_down"),
        (Failure("quota"), "quota_exceeded"),
        (Failure("context_too_long"), "context_too_long"),
        (Failure("bad_request"), "rejected"),
        (Failure("server", after=2), "provider_down"),
        (HangUp(), "dropped"),
        (HangUp(after=0), "dropped"),
        (HangUp(after=2), "dropped"),
        (HangUp(after=2, how="reset"), "dropped"),
        (HangUp(after=2, how="end"), "dropped"),
        (HangUp(after=0, how="end"), "dropped"),
    ],
)
def test_every_fault_has_a_code_and_a_sentence(
    dialect: str, provider: ScriptedProvider, fault: Failure | HangUp, code: str
) -> None:
    provider.script(Reply("One two three four five", chunk_chars=4, fault=fault))
    with pytest.raises(ProviderError) as error:
        ask(dialect, provider)
    assert error.value.code == code
    assert SENTENCES[code].endswith(".")


def test_a_local_server_says_too_long_in_its_own_way(provider: ScriptedProvider) -> None:
    provider.script(Reply("", fault=Failure("context_too_long_llama_cpp")))
    with pytest.raises(ProviderError) as error:
        ask("openai", provider)
    assert error.value.code == "context_too_long"


def test_an_answer_the_providers_filter_stopped_is_a_refusal(dialect: str, provider: ScriptedProvider) -> None:
    provider.script(Reply("I", finish="content_filter"))
    with pytest.raises(ProviderError) as error:
        ask(dialect, provider)
    assert error.value.code == "refused"


@pytest.mark.parametrize("after", [None, 0, 2])
def test_a_silent_provider_is_given_up_in_time(dialect: str, provider: ScriptedProvider, after: int | None) -> None:
    provider.script(Reply("One two three four", chunk_chars=4, fault=Silence(after=after)))
    began = time.monotonic()
    with pytest.raises(ProviderError) as error:
        ask(dialect, provider, silence=0.3)
    assert error.value.code == "timed_out"
    assert time.monotonic() - began < 3
    assert provider.requests[0].wait_until_ended(1) == "client"


def test_a_provider_that_says_it_is_still_working_is_waited_for(dialect: str, provider: ScriptedProvider) -> None:
    provider.script(Reply("Here it is", chunk_chars=4, first_delay=1.2, chunk_delay=0.8, keep_alive=0.1))
    assert text_of(ask(dialect, provider, silence=0.4)) == "Here it is"


def test_a_provider_that_only_ever_says_so_is_given_up(dialect: str, provider: ScriptedProvider) -> None:
    provider.script(Reply("One two", chunk_chars=4, keep_alive=0.05, fault=Silence(after=1)))
    with pytest.raises(ProviderError) as error:
        ask(dialect, provider, silence=0.15)
    assert error.value.code == "timed_out"


def test_nobody_listening_is_unreachable(dialect: str) -> None:
    with ScriptedProvider() as closed:
        pass
    with pytest.raises(ProviderError) as error:
        ask(dialect, closed)
    assert error.value.code == "unreachable"


def test_a_request_is_made_once_however_it_fails(dialect: str, provider: ScriptedProvider) -> None:
    provider.script(*[Reply("", fault=Failure("server"))] * 3)
    with pytest.raises(ProviderError):
        ask(dialect, provider)
    assert len(provider.requests) == 1


@pytest.mark.parametrize("reply", [Reply("word " * 200, chunk_delay=0.05), Reply("late", first_delay=30)])
def test_leaving_the_answer_closes_the_connection_at_once(
    dialect: str, provider: ScriptedProvider, reply: Reply
) -> None:
    provider.script(reply)

    async def leave() -> float:
        model = model_of(dialect, provider)
        async with model.connections():

            async def read() -> None:
                async with aclosing(model.stream(ChatRequest(ASKED, max_tokens=100))) as events:
                    async for _ in events:
                        pass

            reading = asyncio.create_task(read())
            await asyncio.to_thread(provider.wait_for_requests, 1)
            await asyncio.sleep(0.2)
            reading.cancel()
            began = time.monotonic()
            await asyncio.to_thread(provider.requests[0].wait_until_ended, 5)
            return time.monotonic() - began

    assert asyncio.run(leave()) < 1
    assert provider.requests[0].ended_by == "client"
