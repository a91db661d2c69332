"""One streamed request to a chat model, through pydantic-ai's direct API.

Exactly one attempt: whether to ask again is the user's decision, so the SDKs' own retries are off.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Collection, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any, Literal, TypeVar, cast
from uuid import uuid4

from httpx2 import AsyncClient
from pydantic_ai import exceptions
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, create_async_httpx2_client, infer_model
from pydantic_ai.providers import Provider, infer_provider_class
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from conversations.providers.errors import ProviderError
from conversations.providers.pictures import UNREADABLE, readable
from conversations.providers.values import (
    MOST_DOLLARS,
    MOST_TOKENS,
    CallDelta,
    ChatEvent,
    ChatMessage,
    ChatModelInfo,
    ChatRequest,
    Finished,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolResult,
    ToolSpec,
    safe_name,
)
from conversations.providers.words import collected, watch

T = TypeVar("T")

CODES: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.ModelAuthenticationError, "bad_key"),
    (exceptions.ModelNotFoundError, "unknown_model"),
    (exceptions.ModelContextWindowExceededError, "context_too_long"),
    (exceptions.ModelQuotaExceededError, "quota_exceeded"),
    (exceptions.ModelRateLimitError, "rate_limited"),
    (exceptions.ModelTimeoutError, "timed_out"),
    (exceptions.ModelRequestTimeout, "timed_out"),
    (exceptions.ModelUnavailableError, "provider_down"),
    (exceptions.ModelServerError, "provider_down"),
    (exceptions.ContentFilterError, "refused"),
    (exceptions.ModelRequestRejectedError, "rejected"),
    (exceptions.UserError, "not_configured"),
    (exceptions.UnexpectedModelBehavior, "dropped"),
)
"""The first class that fits gives the code; a lost connection depends on when it was lost, see `_code`."""

SILENCES_WITH_SIGNS_OF_LIFE = 10
"""How many times the allowed silence a provider may go without a word while it sends signs of life: comments, empty
deltas, as those do that let a request wait in a queue."""

OPENAI_DIALECT = {"openai": "openai-chat", "bundled": "openai-chat"}

WATCHED = ("openai", "openai-chat", "anthropic")
"""Providers whose answers come through a client of ours, see `words`."""

CACHED_BY_ANTHROPIC = {"anthropic_cache_instructions": True, "anthropic_cache_messages": True}
"""Others keep the beginnings of requests by themselves, Anthropic up to the last block that is marked. Plain names: the
types of these settings come with Anthropic's SDK, and who uses OpenAI's does not load it."""

REPEATING = {"dry_multiplier": 0.0}
"""Switches off, for one request, what keeps the bundled model from saying for ever what it said a moment ago."""

LLAMA_CPP_TOO_LONG = "exceed_context_size_error"
"""How llama.cpp's server names a request beyond its window; pydantic-ai takes it for any bad request."""


def connect(
    info: ChatModelInfo,
    *,
    base_url: str,
    key: str,
    silence: float,
    temperature: float | None = None,
    tools: bool = True,
) -> "StreamedChatModel":
    """A model with connections of its own, at the provider's address or at `base_url`; without `tools` it gets none.

    Raises:
        ProviderError: `not_configured` when the provider's key is missing, `unknown_model` when the name says nothing.
    """
    client = watch(create_async_httpx2_client())
    try:
        model = _model(info.name, base_url=base_url, key=key, client=client)
    except exceptions.UserError as error:
        raise ProviderError("not_configured" if "environment variable" in str(error) else "unknown_model") from error
    except ImportError as error:  # pydantic-ai knows the provider, and its SDK is not installed.
        raise ProviderError("not_configured") from error
    takes_tools = tools and bool(model.profile.get("supports_tools", True))
    return StreamedChatModel(model, client, info, silence=silence, temperature=temperature, takes_tools=takes_tools)


def _model(name: str, *, base_url: str, key: str, client: AsyncClient) -> Model:
    given: dict[str, Any] = {name: value for name, value in (("base_url", base_url), ("api_key", key)) if value}

    def provider_at(kind: str) -> Provider[Any]:
        ours = {"http_client": client} if kind in WATCHED else {}
        provider: type[Any] = infer_provider_class(kind)
        made: Provider[Any] = provider(**given, **ours)
        return made

    kind, _, model = name.partition(":")
    if not base_url:
        return infer_model(name, provider_factory=provider_at) if given or kind in WATCHED else infer_model(name)
    # Servers that speak OpenAI's dialect speak its older half: chat completions.
    return infer_model(f"{OPENAI_DIALECT.get(kind, kind)}:{model}", provider_factory=provider_at)


class StreamedChatModel:
    """The `ChatModel` of everything that pydantic-ai knows."""

    def __init__(
        self,
        model: Model,
        client: AsyncClient,
        info: ChatModelInfo,
        *,
        silence: float,
        temperature: float | None = None,
        takes_tools: bool = True,
    ) -> None:
        """`silence`: seconds the provider may send nothing at all."""
        self.info = info
        self.takes_tools = takes_tools
        self._model = model
        self._client = client
        self._silence = silence
        self._temperature = temperature

    async def close(self) -> None:
        """Close the connections, for good."""
        await self._client.aclose()

    @asynccontextmanager
    async def connections(self) -> AsyncIterator[None]:
        """For whoever wants the connections closed, for good, at a moment of their choosing."""
        async with self._client, self._model:
            yield

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent, None]:
        """See `ChatModel.stream`."""
        settings = ModelSettings(max_tokens=request.max_tokens, max_retries=0, timeout=self._silence)
        temperature = self._temperature if request.temperature is None else request.temperature
        if temperature is not None:
            settings["temperature"] = temperature
        if request.must_answer:
            settings["tool_choice"] = "none"
        if request.may_repeat and self.info.provider == "bundled":
            settings["extra_body"] = REPEATING
        if self._model.system == "anthropic":
            settings = cast("ModelSettings", {**settings, **CACHED_BY_ANTHROPIC})
        opening = model_request_stream(
            self._model,
            _messages(request.messages),
            model_settings=settings,
            model_request_parameters=ModelRequestParameters(function_tools=[_tool(spec) for spec in request.tools]),
        )
        async with AsyncExitStack() as stack:
            with collected() as answers:
                response = await self._in_time(stack.enter_async_context(opening))
            answer = answers[-1] if answers else None
            events = aiter(response)
            while (event := await self._in_time(anext(events, None))) is not None:
                delta = _delta(event)
                if answer and isinstance(delta, TextDelta):
                    delta = TextDelta(new) if (new := answer.new_in(delta.text)) else None
                if delta:
                    yield delta
                while answer and (words := await self._in_time(answer.words())):
                    yield TextDelta(words)
            taken = {call.id for message in request.messages for call in message.calls}
            whole = _with_calls_mended(response.get(), taken)
            finished = _finished(whole)
            for call in whole.tool_calls:
                yield _call(call)
            yield finished

    async def _in_time(self, coming: Awaitable[T]) -> T:
        """Also bytes that never become an event are only signs of life."""
        with _translated():
            async with asyncio.timeout(self._silence * SILENCES_WITH_SIGNS_OF_LIFE):
                return await coming


def _messages(messages: tuple[ChatMessage, ...]) -> list[ModelMessage]:
    """In pydantic-ai's form, where what we say and what the model said alternate as request and response."""
    said: list[ModelMessage] = []
    for message in messages:
        if isinstance(message.native, ModelResponse):
            said.append(message.native)
        elif message.role == "assistant":
            said.append(ModelResponse(parts=_response_parts(message)))
        elif said and isinstance(said[-1], ModelRequest):
            said[-1] = ModelRequest(parts=[*said[-1].parts, *_request_parts(message)])
        else:
            said.append(ModelRequest(parts=_request_parts(message)))
    return said


def _response_parts(message: ChatMessage) -> list[ModelResponsePart]:
    calls = [ToolCallPart(call.name, call.arguments, tool_call_id=call.id) for call in message.calls]
    return [TextPart(message.text), *calls] if message.text else [*calls]


def _request_parts(message: ChatMessage) -> list[ModelRequestPart]:
    if message.role == "tool":
        return [_return(result) for result in message.results]
    if message.role == "system":
        return [SystemPromptPart(message.text)]
    # Words alone go as a text: not every server that speaks a dialect takes a list of parts.
    words = [message.text] if message.text.strip() else []
    return [UserPromptPart([*_pictures(message), *words] if message.images else message.text)]


def _pictures(message: ChatMessage) -> list[UserContent]:
    """Images before the words, as their makers advise; a note stands in the place of one that nobody could read."""
    read = [readable(image) for image in message.images]
    return [
        BinaryContent(data=picture.data, media_type=picture.media_type) if picture else UNREADABLE for picture in read
    ]


def _return(result: ToolResult) -> ToolReturnPart[str]:
    outcome: Literal["failed", "success"] = "failed" if result.is_error else "success"
    return ToolReturnPart(result.name, result.text, tool_call_id=result.call_id, outcome=outcome)


def _tool(spec: ToolSpec) -> ToolDefinition:
    return ToolDefinition(name=spec.name, description=spec.description, parameters_json_schema=dict(spec.parameters))


def _call(part: ToolCallPart) -> ToolCall:
    arguments = part.args if isinstance(part.args, str) else part.args_as_json_str()
    return ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=arguments or "{}")


def _with_calls_mended(response: ModelResponse, taken: Collection[str]) -> ModelResponse:
    """Some servers give every call the same id, or none, so that results could not be told apart; some models call
    tools by names that nobody takes back. `taken` are the ids of earlier calls."""
    seen = {"", *taken}
    parts: list[ModelResponsePart] = []
    for part in response.parts:
        if isinstance(part, ToolCallPart):
            call_id = f"call_{uuid4().hex[:24]}" if part.tool_call_id in seen else part.tool_call_id
            seen.add(call_id)
            mended: dict[str, Any] = {"tool_call_id": call_id, "tool_name": safe_name(part.tool_name)}
            parts.append(replace(part, **mended))
        else:
            parts.append(part)
    return replace(response, parts=parts)


def _delta(event: ModelResponseStreamEvent) -> TextDelta | ThinkingDelta | CallDelta | None:
    """What an event carries of words or of a call; None for events that carry neither."""
    match event:
        case PartStartEvent(part=TextPart(content=text)) if text:
            return TextDelta(text)
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
            return TextDelta(text)
        case PartStartEvent(part=ThinkingPart(content=text)) if text:
            return ThinkingDelta(text)
        case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=text)) if text:
            return ThinkingDelta(text)
        case PartStartEvent(part=ToolCallPart(tool_name=name, args=arguments)):
            return CallDelta(len(name) + _characters(arguments))
        case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=arguments)):
            return CallDelta(_characters(arguments))
    return None


def _characters(arguments: str | Mapping[str, object] | None) -> int:
    return len(arguments if isinstance(arguments, str) else json.dumps(arguments, default=str)) if arguments else 0


def _finished(whole: ModelResponse) -> Finished:
    """Read the end of the answer.

    Raises:
        ProviderError: `dropped` when the provider gave no reason for ending, `refused` when its filter did.
    """
    if whole.finish_reason == "content_filter":
        raise ProviderError("refused")
    # OpenAI's dialect lets a body end early without an error; then the raw reason is missing. A reason that nobody
    # knows is one, too: servers have words of their own.
    if "finish_reason" not in (whole.provider_details or {}):
        raise ProviderError("dropped")
    usage = whole.usage
    return Finished(
        input_tokens=_counted(usage.input_tokens),
        output_tokens=_counted(usage.output_tokens),
        cached_tokens=_counted(usage.cache_read_tokens),
        cost=_cost(whole),
        was_cut_off=whole.finish_reason == "length",
        reasoning_tokens=_counted(usage.output_reasoning_tokens),
        native=whole,
    )


def _counted(tokens: int | None) -> int | None:
    """None for a figure that cannot be: no answer is lost over its statistics. Some servers report halves of tokens."""
    return int(tokens) or None if tokens and 0 < tokens <= MOST_TOKENS else None


def _cost(response: ModelResponse) -> Decimal | None:
    """Dollars by the current price list; None for a model without a public price."""
    try:
        cost = response.cost().total_price
    except (LookupError, ValueError):
        return None
    return cost if 0 <= cost < MOST_DOLLARS else None


@contextmanager
def _translated() -> Iterator[None]:
    """Turn what pydantic-ai and the clock raise into a `ProviderError`."""
    try:
        yield
    except TimeoutError as error:
        raise ProviderError("timed_out") from error
    except (exceptions.AgentRunError, exceptions.UserError) as error:
        raise ProviderError(_code(error)) from error
    except (AttributeError, TypeError, KeyError, ValueError, RecursionError) as error:
        # What no dialect provides for makes the SDKs stumble: a list where they look for an object.
        raise ProviderError("garbled") from error


def _code(error: exceptions.AgentRunError | exceptions.UserError) -> str:
    if isinstance(error, exceptions.ModelAPIError) and error.provider_error_type == LLAMA_CPP_TOO_LONG:
        return "context_too_long"
    for kind, code in CODES:
        if isinstance(error, kind):
            return code
    if isinstance(error, exceptions.ModelConnectionError):
        return "unreachable" if error.phase in ("pool", "connect") else "dropped"
    return "provider_down"
