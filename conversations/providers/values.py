"""What is said to a provider and what comes back: frozen values, in nobody's dialect."""

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, Protocol

Role = Literal["system", "user", "assistant", "tool"]


MOST_DOLLARS = 1_000_000
MOST_TOKENS = 2**31 - 1
"""What the database's columns hold, and far more than any model takes."""

NAME_CHARACTERS = 64


def safe_name(name: str) -> str:
    """The name of a tool as every provider accepts it; models also call tools by names that none does."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:NAME_CHARACTERS] or "unnamed"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it; `parameters` is the JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What a model asks of a tool; `arguments` is JSON, or whatever the model wrote in its place."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of the call with that id, in words for the model."""

    call_id: str
    name: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Image:
    """A picture, its bytes in base64."""

    media_type: str
    data: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a request: words, the assistant's with its calls; what came of those is the tool's."""

    role: Role
    text: str
    images: tuple[Image, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    native: object = field(default=None, compare=False, repr=False)
    """An answer of the same turn in its provider's own form: some want the signatures of its reasoning sent back."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A whole request: what the model sees, at most how many tokens it may answer, which tools it may call."""

    messages: tuple[ChatMessage, ...]
    max_tokens: int
    tools: tuple[ToolSpec, ...] = ()
    must_answer: bool = False
    """The tools are named, since earlier calls are, and none may be called."""
    temperature: float | None = None
    """None: the model's own."""
    may_repeat: bool = False
    """The answer is made of the words of the request: the bundled model is not kept from repeating them."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """The next piece of what a reasoning model writes before it answers."""

    text: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """So many characters more of a call that is being written; the call itself comes when it is whole."""

    characters: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of an answer: tokens the provider counted (None: it did not say), dollars (None: price unknown)."""

    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost: Decimal | None
    was_cut_off: bool
    """The answer ended because it reached its token limit."""
    reasoning_tokens: int | None = None
    """Part of the output tokens, where the provider tells them apart."""
    native: object = field(default=None, compare=False, repr=False)
    """See `ChatMessage.native`."""


ChatEvent = TextDelta | ThinkingDelta | CallDelta | ToolCall | Finished


@dataclass(frozen=True, slots=True)
class ChatModelInfo:
    """What the rest of the product may know of a model."""

    name: str
    """As stored with a turn: `provider:name`."""
    label: str
    """As shown to a person."""
    provider: str
    window: int
    """Tokens of prompt and reply together."""
    takes_images: bool = False


class ChatModel(Protocol):
    """A model that can be asked. It holds the provider's connections: make one and keep it."""

    @property
    def info(self) -> ChatModelInfo: ...

    @property
    def takes_tools(self) -> bool:
        """Whether a request may name tools, and hold calls and results."""
        ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent, None]:
        """Ask, and yield the answer as it comes: words, then whole calls of tools; the last event is `Finished`.

        Closing the generator closes the provider's connection.

        Raises:
            ProviderError: the provider did not answer, or not to the end.
        """
        ...


@dataclass(frozen=True, slots=True)
class Embedded:
    """A vector of length 1 for each text, in order; what a provider counted and what it costs, in dollars, if known."""

    vectors: list[list[float]]
    input_tokens: int | None = None
    cost: Decimal | None = None


class Embedder(Protocol):
    """Turns texts into vectors that point the same way when they mean the same."""

    @property
    def name(self) -> str:
        """Name and version: vectors of different ones cannot be compared."""
        ...

    @property
    def is_remote(self) -> bool:
        """A provider's: its calls are traced, and nobody waits for it in a transaction."""
        ...

    def embed(self, texts: Sequence[str], *, seconds: float) -> Embedded:
        """Blocks while it works, at most about so many seconds.

        Raises:
            ProviderError: it did not answer, or not in time.
        """
        ...
