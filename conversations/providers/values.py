"""What is said to a provider and what comes back: frozen values, in nobody's dialect."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a request."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A whole request: what the model sees, and at most how many tokens it may answer."""

    messages: tuple[ChatMessage, ...]
    max_tokens: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """The next piece of what a reasoning model writes before it answers."""

    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of an answer: tokens the provider counted (None: it did not say), dollars (None: price unknown)."""

    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost: Decimal | None
    was_cut_off: bool
    """The answer ended because it reached its token limit."""


ChatEvent = TextDelta | ThinkingDelta | Finished


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


class ChatModel(Protocol):
    """A model that can be asked. It holds the provider's connections: make one and keep it."""

    @property
    def info(self) -> ChatModelInfo: ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent, None]:
        """Ask, and yield the answer as it comes; the last event is `Finished`.

        Closing the generator closes the provider's connection.

        Raises:
            ProviderError: the provider did not answer, or not to the end.
        """
        ...
