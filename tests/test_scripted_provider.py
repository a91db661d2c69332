"""The scripted provider, seen through the SDKs that the product uses: pydantic-ai over openai and anthropic."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from typing import Any, Literal

import httpx
import httpx2
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai import ModelRequest, ModelResponse, TextPart, ThinkingPart, ToolCallPart, ToolDefinition
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelServerError,
    ModelTimeoutError,
)
from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPartDelta
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse, override_allow_model_requests
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from tests.provider import (
    Failure,
    HangUp,
    Reply,
    ScriptedProvider,
    Silence,
    ToolCall,
    Usage,
    count_tokens,
    prompt_tokens,
    reply_as_json,
    steady,
)
from tests.provider.replies import FailureKind, Finish

MIXED_SCRIPTS = "naïve 日本語 🙂 👩\u200d👧 العربية"
TOOLS = [ToolDefinition(name=name) for name in ("search", "today")]
AT_ONCE = 0.5  # seconds until the provider knows that its client left: one thousandth, but machines are busy


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as running:
        yield running


@pytest.fixture(params=["openai", "anthropic"])
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Client:
    """One SDK over the provider: streams an answer into `text` as far as it comes."""

    def __init__(self, provider: ScriptedProvider, dialect: str, *, timeout: float = 5.0, retries: int = 0) -> None:
        self.pieces: list[str] = []
        self._provider = provider
        self._dialect = dialect
        self._limits: dict[str, Any] = {"timeout": timeout, "max_retries": retries, "api_key": "secret"}

    def ask(self, prompt: str = "Hello") -> ModelResponse:
        return asyncio.run(self.asked(prompt))

    def ask_whole(self, prompt: str = "Hello") -> ModelResponse:
        return asyncio.run(self.asked_whole(prompt))

    @asynccontextmanager
    async def stream(self, prompt: str = "Hello") -> AsyncIterator[StreamedResponse]:
        async with self.model() as model:
            tools = ModelRequestParameters(function_tools=TOOLS)
            asked = [ModelRequest.user_text_prompt(prompt, instructions="Be brief.")]
            async with model_request_stream(model, asked, model_request_parameters=tools) as response:
                yield response

    @asynccontextmanager
    async def model(self) -> AsyncIterator[Model]:
        async with AsyncExitStack() as stack:
            stack.enter_context(override_allow_model_requests(True))
            # Reading the certificates of the world takes longer than most of these tests.
            plain = httpx2.AsyncClient(verify=False)
            model: Model
            if self._dialect == "openai":
                openai = AsyncOpenAI(base_url=self._provider.openai_url, http_client=plain, **self._limits)
                await stack.enter_async_context(openai)
                model = OpenAIChatModel("scripted-large", provider=OpenAIProvider(openai_client=openai))
            else:
                anthropic = AsyncAnthropic(base_url=self._provider.anthropic_url, http_client=plain, **self._limits)
                await stack.enter_async_context(anthropic)
                model = AnthropicModel("scripted-large", provider=AnthropicProvider(anthropic_client=anthropic))
            yield model

    async def read(self, response: StreamedResponse, *, pieces: int | None = None) -> None:
        async for event in response:
            if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                self.pieces.append(event.part.content)
            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                self.pieces.append(event.delta.content_delta)
            if len(self.pieces) == pieces:
                return

    async def asked(self, prompt: str) -> ModelResponse:
        async with self.stream(prompt) as response:
            await self.read(response)
            return response.get()

    async def asked_whole(self, prompt: str) -> ModelResponse:
        async with self.model() as model:
            return await model_request(model, [ModelRequest.user_text_prompt(prompt, instructions="Be brief.")])


def calls(response: ModelResponse) -> Sequence[ToolCallPart]:
    return [part for part in response.parts if isinstance(part, ToolCallPart)]


def post(provider: ScriptedProvider, content: str | bytes, *, path: str = "/v1/chat/completions") -> httpx.Response:
    return httpx.post(provider.base_url + path, content=content)


def question(text: str = "Hello", **settings: object) -> str:
    return json.dumps({"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": text}], **settings})


def test_a_text_arrives_in_pieces_of_the_scripted_size(provider: ScriptedProvider, dialect: str) -> None:
    provider.script(Reply("abcdefgh", chunk_chars=3))
    client = Client(provider, dialect)

    response = client.ask()

    assert client.pieces == ["abc", "def", "gh"]
    assert response.text == "abcdefgh"
    assert response.model_name == "scripted-large"


def test_deltas_arrive_exactly_as_scripted(provider: ScriptedProvider, dialect: str) -> None:
    provider.script(Reply(deltas=("One", " two, ", "three.")))
    client = Client(provider, dialect)

    client.ask()

    assert client.pieces == ["One", " two, ", "three."]


def test_usage_follows_from_the_texts(provider: ScriptedProvider, dialect: str) -> None:
    provider.script(Reply("An answer of some words."))

    usage = Client(provider, dialect).ask().usage

    assert usage.input_tokens == prompt_tokens(provider.requests[0].body)
    assert usage.output_tokens == count_tokens("An answer of some words.")


def test_a_conversation_costs_the_same_in_both_dialects(provider: ScriptedProvider, dialect: str) -> None:
    Client(provider, dialect).ask_whole("How are you?")

    (request,) = provider.requests
    around_each = 3
    assert prompt_tokens(request.body) == sum(
        around_each + count_tokens(text) for text in ("Be brief.", "How are you?")
    )


def test_scripted_usage_is_reported_with_its_cached_part(provider: ScriptedProvider, dialect: str) -> None:
    provider.script(Reply("Hi", usage=Usage(input_tokens=1200, output_tokens=34, cached_tokens=1000)))

    usage = Client(provider, dialect).ask().usage

    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (1200, 1000, 34)


def test_usage_may_be_missing(provider: ScriptedProvider) -> None:
    provider.script(Reply("Hi", reports_usage=False))

    assert Client(provider, "openai").ask().usage.unmeasured_requests == 1


def test_parallel_tool_calls_arrive_whole_and_apart(provider: ScriptedProvider, dialect: str) -> None:
    arguments = json.dumps({"query": "where we met", "limit": 3})
    provider.script(Reply("Let me look.", tool_calls=(ToolCall("search", arguments), ToolCall("today"))))

    response = Client(provider, dialect).ask()

    search, today = calls(response)
    assert (search.tool_name, search.args_as_dict()) == ("search", {"query": "where we met", "limit": 3})
    assert (today.tool_name, today.args_as_dict()) == ("today", {})
    assert search.tool_call_id != today.tool_call_id
    assert response.text == "Let me look."
    assert response.finish_reason == "tool_call"


def test_a_tool_call_keeps_its_scripted_id_and_broken_arguments(provider: ScriptedProvider, dialect: str) -> None:
    provider.script(Reply(tool_calls=(ToolCall("search", '{"query": "unfin', id="call_of_ours"),)))

    (call,) = calls(Client(provider, dialect).ask())

    assert (call.tool_call_id, call.args) == ("call_of_ours", '{"query": "unfin')


def test_reasoning_arrives_before_the_text(provider: ScriptedProvider, dialect: str) -> None:
    provider.script(Reply("42", reasoning="Six times seven."))

    thought, spoken = Client(provider, dialect).ask().parts

    assert isinstance(thought, ThinkingPart)
    assert thought.content == "Six times seven."
    assert isinstance(spoken, TextPart)
    assert spoken.content == "42"


@pytest.mark.parametrize("finish", ["stop", "length", "content_filter"])
def test_the_finish_reason_is_the_scripted_one(provider: ScriptedProvider, dialect: str, finish: Finish) -> None:
    provider.script(Reply("Hi", finish=finish))

    assert Client(provider, dialect).ask().finish_reason == finish


def test_an_answer_that_is_not_streamed_holds_the_same(provider: ScriptedProvider, dialect: str) -> None:
    provider.script(Reply("42", reasoning="Six times seven.", tool_calls=(ToolCall("today"),), finish="length"))

    response = Client(provider, dialect).ask_whole()

    assert response.text == "42"
    assert response.thinking == "Six times seven."
    assert [call.tool_name for call in calls(response)] == ["today"]
    assert response.finish_reason == "length"
    assert response.usage.input_tokens == prompt_tokens(provider.requests[0].body)


def test_an_answer_that_is_not_streamed_takes_as_long(provider: ScriptedProvider) -> None:
    provider.script(Reply("abcdefgh", chunk_chars=2, first_delay=0.05, chunk_delay=0.05))
    start = time.monotonic()

    post(provider, question())

    assert time.monotonic() - start >= 0.25


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("authentication", ModelAuthenticationError),
        ("model_not_found", ModelNotFoundError),
        ("context_too_long", ModelContextWindowExceededError),
        ("rate_limit", ModelRateLimitError),
        ("quota", ModelQuotaExceededError),
        ("server", ModelServerError),
        ("overloaded", ModelOverloadedError),
    ],
)
@pytest.mark.parametrize("after", [None, 0, 2], ids=["refused", "first event", "mid-stream"])
def test_a_failure_is_understood_wherever_it_comes(
    provider: ScriptedProvider, dialect: str, kind: FailureKind, error: type[ModelAPIError], after: int | None
) -> None:
    provider.script(Reply("abcdef", chunk_chars=2, fault=Failure(kind, after=after)))
    client = Client(provider, dialect)

    with pytest.raises(error):
        client.ask()

    assert client.pieces == ["ab", "cd"][: after or 0]
    assert provider.requests[0].wait_until_ended() == "finished"


def test_a_bad_request_is_refused(provider: ScriptedProvider, dialect: str) -> None:
    provider.script(Reply(fault=Failure("bad_request", message="No such role.")))

    with pytest.raises(ModelRequestRejectedError, match="No such role"):
        Client(provider, dialect).ask()


def test_a_context_too_long_for_llama_cpp_is_only_a_rejected_request(provider: ScriptedProvider) -> None:
    provider.script(Reply(fault=Failure("context_too_long_llama_cpp")))

    with pytest.raises(ModelRequestRejectedError) as caught:
        Client(provider, "openai").ask()

    assert not isinstance(caught.value, ModelContextWindowExceededError)
    assert caught.value.provider_error_type == "exceed_context_size_error"


def test_a_rate_limit_says_when_to_come_back(provider: ScriptedProvider, dialect: str) -> None:
    provider.script(Reply(fault=Failure("rate_limit", retry_after=1.5)))

    with pytest.raises(ModelRateLimitError) as caught:
        Client(provider, dialect).ask()

    assert caught.value.retry_after == 1.5


def test_a_retry_of_the_sdk_takes_the_next_reply(provider: ScriptedProvider, dialect: str) -> None:
    provider.script(Reply(fault=Failure("rate_limit", retry_after=0.01)), Reply("At last."))

    assert Client(provider, dialect, retries=1).ask().text == "At last."
    assert len(provider.requests) == 2


@pytest.mark.parametrize("how", ["close", "reset"])
def test_hanging_up_mid_stream_leaves_the_text_so_far(
    provider: ScriptedProvider, dialect: str, how: Literal["close", "reset"]
) -> None:
    provider.script(Reply("abcdefgh", chunk_chars=2, fault=HangUp(after=3, how=how)))
    client = Client(provider, dialect)

    with pytest.raises(ModelConnectionError):
        client.ask()

    assert client.pieces == ["ab", "cd", "ef"]
    assert provider.requests[0].wait_until_ended() == "provider"
    assert len(provider.requests[0].delta_times) == 3


@pytest.mark.parametrize("after", [None, 0], ids=["before the status line", "before the first event"])
@pytest.mark.parametrize("how", ["close", "reset"])
def test_hanging_up_before_any_answer(
    provider: ScriptedProvider, dialect: str, how: Literal["close", "reset"], after: int | None
) -> None:
    provider.script(Reply("abc", fault=HangUp(after=after, how=how)))

    with pytest.raises(ModelConnectionError):
        Client(provider, dialect).ask()

    assert provider.requests[0].wait_until_ended() == "provider"


def test_hanging_up_in_an_answer_that_is_not_streamed(provider: ScriptedProvider, dialect: str) -> None:
    provider.script(Reply("abc", fault=HangUp(after=1)))

    with pytest.raises(ModelConnectionError):
        Client(provider, dialect).ask_whole()


def test_a_body_that_ends_early_raises_nothing_and_has_no_finish_reason(
    provider: ScriptedProvider, dialect: str
) -> None:
    provider.script(Reply("abcdef", chunk_chars=2, fault=HangUp(after=2, how="end")))

    response = Client(provider, dialect).ask()

    assert response.text == "abcd"
    assert "finish_reason" not in (response.provider_details or {})
    assert provider.requests[0].wait_until_ended() == "provider"


@pytest.mark.parametrize("after", [None, 0, 1])
def test_silence_ends_with_the_timeout_of_the_client(
    provider: ScriptedProvider, dialect: str, after: int | None
) -> None:
    provider.script(Reply("abcdef", chunk_chars=2, fault=Silence(after=after)))
    client = Client(provider, dialect, timeout=0.2)

    with pytest.raises(ModelTimeoutError):
        client.ask()

    assert client.pieces == ["ab"][: after or 0]
    assert provider.requests[0].wait_until_ended() == "client"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(fault=Silence()),
        Reply("abc", head_delay=60),
        Reply("abc", first_delay=60),
        Reply(deltas=("a", "b"), chunk_delay=60),
        Reply("abc", fault=Silence(after=1)),
    ],
    ids=["no answer", "head delay", "first delay", "chunk delay", "silence"],
)
def test_a_client_that_leaves_is_noticed_at_once(provider: ScriptedProvider, dialect: str, reply: Reply) -> None:
    provider.script(reply)

    async def leave() -> float:
        asking = asyncio.ensure_future(Client(provider, dialect).asked("Hello"))
        await asyncio.to_thread(provider.wait_for_requests, 1)
        await asyncio.sleep(0.1)
        left_at = time.monotonic()
        asking.cancel()
        await asyncio.wait([asking])
        return left_at

    left_at = asyncio.run(leave())

    (request,) = provider.requests
    assert request.wait_until_ended() == "client"
    assert request.ended_at is not None
    assert request.ended_at - left_at < AT_ONCE


def test_leaving_the_stream_early_closes_the_connection(provider: ScriptedProvider, dialect: str) -> None:
    provider.script(steady(1000, per_second=50))
    client = Client(provider, dialect)

    async def read_three_pieces() -> float:
        async with client.stream() as response:
            await client.read(response, pieces=3)
            await response.cancel()
            return time.monotonic()

    left_at = asyncio.run(read_three_pieces())

    assert provider.requests[0].wait_until_ended() == "client"
    assert provider.requests[0].ended_at is not None
    assert provider.requests[0].ended_at - left_at < AT_ONCE
    assert provider.open_connections == 0


@pytest.mark.parametrize("size", [1, 7])
def test_characters_cut_between_writes_come_out_whole(provider: ScriptedProvider, dialect: str, size: int) -> None:
    provider.script(Reply(MIXED_SCRIPTS, chunk_chars=5, chunk_bytes=size))

    assert Client(provider, dialect).ask().text == MIXED_SCRIPTS


@pytest.mark.parametrize("streamed", [True, False])
def test_byte_chunks_really_cut_characters(provider: ScriptedProvider, streamed: bool) -> None:
    provider.script(Reply("🙂🙂", chunk_bytes=3))
    body = question(stream=streamed)
    url = f"{provider.openai_url}/chat/completions"

    with httpx.stream("POST", url, content=body) as response:
        chunks = list(response.iter_raw())

    assert any(_is_cut(chunk) for chunk in chunks)
    assert "🙂🙂".encode() in b"".join(chunks)


def _is_cut(chunk: bytes) -> bool:
    try:
        chunk.decode()
    except UnicodeDecodeError:
        return True
    return False


def test_what_is_no_proper_text_crosses_the_wire_too(provider: ScriptedProvider, dialect: str) -> None:
    provider.script(Reply(deltas=("nul \0", "half \ud83d", "\ude00 half")))
    client = Client(provider, dialect)

    client.ask()

    assert client.pieces == ["nul \0", "half \ud83d", "\ude00 half"]


def test_delays_come_where_they_are_scripted(provider: ScriptedProvider, dialect: str) -> None:
    provider.script(Reply("abcd", chunk_chars=1, head_delay=0.1, first_delay=0.1, chunk_delay=0.05))

    Client(provider, dialect).ask()

    (request,) = provider.requests
    first, *_, last = request.delta_times
    assert first - request.arrived_at >= 0.2
    assert last - first >= 0.14


def test_a_steady_load_keeps_its_rate(provider: ScriptedProvider, dialect: str) -> None:
    provider.default = steady(40, per_second=200)

    response = Client(provider, dialect).ask()

    (request,) = provider.requests
    assert len(request.delta_times) == 40
    assert 0.19 < request.delta_times[-1] - request.delta_times[0] < 1
    assert response.text is not None
    assert response.text.split()[-1] == "word39"


def test_replies_are_used_up_in_order_and_the_default_follows(provider: ScriptedProvider) -> None:
    provider.script(Reply("first"), Reply("second"))
    client = Client(provider, "openai")

    assert [client.ask_whole().text for _ in range(3)] == ["first", "second", provider.default.text]


def test_parallel_conversations_get_their_own_replies(provider: ScriptedProvider, dialect: str) -> None:
    provider.on("cats", Reply("Meow", chunk_delay=0.05, chunk_chars=1))
    provider.on("dogs", Reply("Woof", chunk_delay=0.05, chunk_chars=1))
    client = Client(provider, dialect)

    async def ask_both() -> list[ModelResponse]:
        return list(await asyncio.gather(client.asked("About dogs?"), client.asked("About cats?")))

    assert [response.text for response in asyncio.run(ask_both())] == ["Woof", "Meow"]


def test_a_rule_goes_before_the_queue_and_repeats_its_last_reply(provider: ScriptedProvider) -> None:
    provider.script(Reply("queued"))
    provider.on(lambda body: body["model"] == "scripted-large", Reply("one"), Reply("two"))
    client = Client(provider, "openai")

    assert [client.ask_whole().text for _ in range(3)] == ["one", "two", "two"]


def test_a_text_is_looked_for_in_the_newest_question_only(provider: ScriptedProvider) -> None:
    provider.on("cats", Reply("Meow"))
    earlier = [{"role": "user", "content": "cats"}, {"role": "assistant", "content": "Yes?"}]
    newest = {"role": "user", "content": [{"type": "text", "text": "dogs"}]}
    tool_result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "cats"}]}

    response = post(provider, json.dumps({"messages": [*earlier, newest, tool_result]}))

    assert "Meow" not in response.text


def test_a_rule_that_raises_fails_the_test_that_wrote_it() -> None:
    def ask_with_a_faulty_rule(provider: ScriptedProvider) -> None:
        provider.on(lambda body: bool(body["no such key"]), Reply("never"))
        with provider, pytest.raises(httpx.RemoteProtocolError):
            post(provider, question())

    provider = ScriptedProvider()
    with pytest.raises(KeyError, match="no such key"):
        ask_with_a_faulty_rule(provider)

    assert provider.requests[0].ended_by == "provider"


def test_the_record_holds_what_was_sent(provider: ScriptedProvider, dialect: str) -> None:
    Client(provider, dialect).ask("What is new?")

    (request,) = provider.requests
    assert "What is new?" in json.dumps(request.body)
    assert request.body["stream"] is True
    assert "secret" in request.headers.get("authorization", request.headers.get("x-api-key", ""))
    assert request.wait_until_ended() == "finished"
    assert request.arrived_at <= request.delta_times[0] <= (request.ended_at or 0)


def test_waiting_for_what_does_not_come_times_out(provider: ScriptedProvider) -> None:
    with pytest.raises(TimeoutError, match="0 of 1 requests"):
        provider.wait_for_requests(1, timeout=0.01)


def test_forgetting_leaves_only_the_default(provider: ScriptedProvider) -> None:
    provider.on("Hello", Reply("ruled"))
    provider.script(Reply("queued"))
    post(provider, question())
    provider.forget()

    assert provider.requests == []
    assert provider.default.text in post(provider, question()).text


def test_one_connection_carries_many_requests(provider: ScriptedProvider) -> None:
    with httpx.Client() as client:
        for _ in range(3):
            client.post(f"{provider.openai_url}/chat/completions", content=question(stream=True))
        assert provider.open_connections == 1
    assert len(provider.requests) == 3


def test_models_are_listed_in_both_dialects() -> None:
    async def listed(provider: ScriptedProvider) -> list[list[str]]:
        async with (
            AsyncOpenAI(base_url=provider.openai_url, api_key="secret") as openai,
            AsyncAnthropic(base_url=provider.anthropic_url, api_key="secret") as anthropic,
        ):
            return [[model.id async for model in client.models.list()] for client in (openai, anthropic)]

    with ScriptedProvider(models=("small", "large")) as provider:
        assert asyncio.run(listed(provider)) == [["small", "large"], ["small", "large"]]


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff"])
def test_a_body_that_is_no_json_object_is_refused(provider: ScriptedProvider, content: bytes) -> None:
    openai = post(provider, content)
    anthropic = post(provider, content, path="/v1/messages")

    assert (openai.status_code, openai.json()["error"]["type"]) == (400, "invalid_request_error")
    assert (anthropic.status_code, anthropic.json()["type"]) == (400, "error")


def test_an_unknown_path_is_not_found(provider: ScriptedProvider) -> None:
    assert post(provider, "{}", path="/v1/images").status_code == 404


def test_what_is_not_http_is_hung_up_on(provider: ScriptedProvider) -> None:
    async def say_nonsense() -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", httpx.URL(provider.base_url).port)
        writer.write(b"nonsense\r\n\r\n")
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer

    assert asyncio.run(say_nonsense()) == b""


def test_leaving_the_provider_ends_its_answers_and_its_thread() -> None:
    before = set(threading.enumerate())
    with ExitStack() as client_side:
        with ScriptedProvider(default=Reply(fault=Silence(after=0))) as provider:
            url, body = f"{provider.openai_url}/chat/completions", question(stream=True)
            client_side.enter_context(httpx.stream("POST", url, content=body))

        assert provider.requests[0].ended_by == "provider"
    assert set(threading.enumerate()) <= before


def test_a_port_in_use_is_reported(provider: ScriptedProvider) -> None:
    port = httpx.URL(provider.base_url).port or 0

    with pytest.raises(OSError, match="in use"), ScriptedProvider(port=port):
        pass


@pytest.mark.parametrize("wrong", [{"text": "a", "deltas": ("b",)}, {"chunk_chars": 0}, {"chunk_bytes": 0}])
def test_a_reply_that_makes_no_sense_is_not_accepted(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"A reply has|Chunks have"):
        Reply(**wrong)


@pytest.fixture
def process() -> Iterator[httpx.Client]:
    command = [sys.executable, "-m", "tests.provider", "--deltas", "5", "--per-second", "1000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        with httpx.Client(base_url=running.stdout.readline().strip()) as client:
            yield client
        running.terminate()
        assert running.wait(5) == 0


def test_a_process_of_its_own_answers_with_a_load(process: httpx.Client) -> None:
    body = process.post("/v1/chat/completions", content=question(stream=True)).text

    assert body.count("word") == 5
    assert body.endswith("data: [DONE]\n\n")


def test_a_process_of_its_own_is_driven_over_http(process: httpx.Client) -> None:
    hang_up = Reply("abc", tool_calls=(ToolCall("today"),), usage=Usage(1, 2), fault=HangUp(after=1))
    process.post("/script", json={"replies": [reply_as_json(hang_up)]})
    process.post("/script", json={"replies": [{"text": "Meow"}], "on": "cats"})
    process.post("/script", json={"default": {"text": "Whatever."}})

    with pytest.raises(httpx.RemoteProtocolError):
        process.post("/v1/messages", content=question(stream=True))
    assert "Meow" in process.post("/v1/messages", content=question("cats")).text
    assert "Whatever." in process.post("/v1/messages", content=question()).text
    requests = process.get("/requests").json()
    assert [request["ended_by"] for request in requests] == ["provider", "finished", "finished"]
    assert len(requests[0]["delta_times"]) == 1


def test_record_and_script_of_a_process_can_be_emptied(process: httpx.Client) -> None:
    process.post("/script", json={"replies": [{"text": "queued"}]})
    process.post("/v1/messages", content=question())
    process.post("/script", json={"replies": [{"text": "queued again"}]})

    process.delete("/requests")
    process.delete("/script")

    assert process.get("/requests").json() == []
    assert "queued" not in process.post("/v1/messages", content=question()).text


@pytest.mark.parametrize("order", ["{", '{"replies": [{"txt": "a"}]}', '{"replies": [{"fault": {"type": "fire"}}]}'])
def test_an_order_with_a_mistake_is_refused_with_the_reason(process: httpx.Client, order: str) -> None:
    response = process.post("/script", content=order)

    assert response.status_code == 400
    assert response.json()["detail"]
