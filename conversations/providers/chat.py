"""One streamed request to a chat model, through pydantic-ai's direct API.

Exactly one attempt: whether to ask again is the user's decision, so the SDKs' own retries are off.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from decimal import Decimal
from typing import Any

from pydantic_ai import exceptions
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    UserPromptPart,
)
from pydantic_ai.models import Model, StreamedResponse, infer_model
from pydantic_ai.providers import Provider, infer_provider_class
from pydantic_ai.settings import ModelSettings

from conversations.providers.errors import ProviderError
from conversations.providers.values import (
    ChatEvent,
    ChatMessage,
    ChatModelInfo,
    ChatRequest,
    Finished,
    TextDelta,
    ThinkingDelta,
)

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

MOST_DOLLARS = 1_000_000
MOST_TOKENS = 2**31 - 1
"""What the database's columns hold, and far more than any model takes."""

SILENCES_WITH_SIGNS_OF_LIFE = 10
"""How many times the allowed silence a provider may go without a word while it sends signs of life: comments, empty
deltas, as those do that let a request wait in a queue."""

OPENAI_DIALECT = {"openai": "openai-chat", "bundled": "openai-chat"}

LLAMA_CPP_TOO_LONG = "exceed_context_size_error"
"""How llama.cpp's server names a request beyond its window; pydantic-ai takes it for any bad request."""


def connect(
    info: ChatModelInfo, *, base_url: str, key: str, silence: float, temperature: float | None = None
) -> "StreamedChatModel":
    """A model with connections of its own, at the provider's address or at `base_url`.

    Raises:
        ProviderError: `not_configured` when the provider's key is missing, `unknown_model` when the name says nothing.
    """
    try:
        model = _model(info.name, base_url=base_url, key=key)
    except exceptions.UserError as error:
        raise ProviderError("not_configured" if "environment variable" in str(error) else "unknown_model") from error
    except ImportError as error:  # pydantic-ai knows the provider, and its SDK is not installed.
        raise ProviderError("not_configured") from error
    return StreamedChatModel(model, info, silence=silence, temperature=temperature)


def _model(name: str, *, base_url: str, key: str) -> Model:
    given = {name: value for name, value in (("base_url", base_url), ("api_key", key)) if value}

    def provider_at(kind: str) -> Provider[Any]:
        provider: type[Any] = infer_provider_class(kind)
        made: Provider[Any] = provider(**given)
        return made

    if not base_url:
        return infer_model(name, provider_factory=provider_at) if given else infer_model(name)
    kind, _, model = name.partition(":")
    # Servers that speak OpenAI's dialect speak its older half: chat completions.
    return infer_model(f"{OPENAI_DIALECT.get(kind, kind)}:{model}", provider_factory=provider_at)


class StreamedChatModel:
    """The `ChatModel` of everything that pydantic-ai knows."""

    def __init__(self, model: Model, info: ChatModelInfo, *, silence: float, temperature: float | None = None) -> None:
        """`silence`: seconds the provider may send nothing at all."""
        self.info = info
        self._model = model
        self._silence = silence
        self._temperature = temperature

    def connections(self) -> AbstractAsyncContextManager[object]:
        """For whoever wants the connections closed at a moment of their choosing."""
        return self._model

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent, None]:
        """See `ChatModel.stream`."""
        settings = ModelSettings(max_tokens=request.max_tokens, max_retries=0, timeout=self._silence)
        if self._temperature is not None:
            settings["temperature"] = self._temperature
        opening = model_request_stream(self._model, _messages(request.messages), model_settings=settings)
        async with AsyncExitStack() as stack:
            with _translated():
                async with asyncio.timeout(self._silence * SILENCES_WITH_SIGNS_OF_LIFE):
                    response = await stack.enter_async_context(opening)
            events = aiter(response)
            while (event := await self._next(events)) is not None:
                if delta := _delta(event):
                    yield delta
            yield _finished(response)

    async def _next(self, events: AsyncIterator[ModelResponseStreamEvent]) -> ModelResponseStreamEvent | None:
        with _translated():
            async with asyncio.timeout(self._silence * SILENCES_WITH_SIGNS_OF_LIFE):
                return await anext(events, None)


def _messages(messages: tuple[ChatMessage, ...]) -> list[ModelMessage]:
    """In pydantic-ai's form, where what we say and what the model said alternate as request and response."""
    said: list[ModelMessage] = []
    for message in messages:
        if message.role == "assistant":
            said.append(ModelResponse(parts=[TextPart(message.text)]))
            continue
        part = SystemPromptPart(message.text) if message.role == "system" else UserPromptPart(message.text)
        if said and isinstance(said[-1], ModelRequest):
            said[-1] = ModelRequest(parts=[*said[-1].parts, part])
        else:
            said.append(ModelRequest(parts=[part]))
    return said


def _delta(event: ModelResponseStreamEvent) -> TextDelta | ThinkingDelta | None:
    """The words an event carries; None for events that carry none."""
    match event:
        case PartStartEvent(part=TextPart(content=text)) if text:
            return TextDelta(text)
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
            return TextDelta(text)
        case PartStartEvent(part=ThinkingPart(content=text)) if text:
            return ThinkingDelta(text)
        case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=text)) if text:
            return ThinkingDelta(text)
    return None


def _finished(response: StreamedResponse) -> Finished:
    """Read the end of the answer.

    Raises:
        ProviderError: `dropped` when the provider gave no reason for ending, `refused` when its filter did.
    """
    whole = response.get()
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
    )


def _counted(tokens: int | None) -> int | None:
    """None for a figure that cannot be: no answer is lost over its statistics."""
    return tokens if tokens and 0 < tokens <= MOST_TOKENS else None


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
    except (AttributeError, TypeError, KeyError, ValueError) as error:
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
