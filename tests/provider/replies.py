"""What the provider is told to answer: frozen values, in words that belong to no dialect.

All delays are seconds. `after` counts deltas: pieces of reasoning, text or tool arguments, not events or writes.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Discriminator

Body = Mapping[str, Any]
Finish = Literal["stop", "length", "content_filter"]
FailureKind = Literal[
    "authentication",
    "model_not_found",
    "bad_request",
    "context_too_long",
    "context_too_long_llama_cpp",
    "rate_limit",
    "quota",
    "server",
    "overloaded",
]
STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens a reply is billed for. `input_tokens` includes the cached ones, `output_tokens` the reasoning."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call; `arguments` is JSON, or whatever a model wrote in its place. Without an id it gets a unique one."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    name: str
    arguments: str = "{}"
    id: str = ""


@dataclass(frozen=True, slots=True)
class HangUp:
    """The answer breaks off: before the status line, or after so many deltas (after the last if there are fewer).

    `close` ends the connection in the middle of the body, `reset` does so with a TCP reset, and `end` ends the
    body properly but without the dialect's last events, as a proxy does that lost its upstream.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    after: int | None = None
    how: Literal["close", "reset", "end"] = "close"
    type: Literal["hang_up"] = "hang_up"


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing more is sent, the connection stays open: never answered at all, or silent after so many deltas."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    after: int | None = None
    type: Literal["silence"] = "silence"


@dataclass(frozen=True, slots=True)
class Failure:
    """An error in the dialect's own shape: instead of an answer, or as an event after so many deltas of a stream.

    `retry_after` is in seconds. llama.cpp speaks OpenAI's dialect but words a context that is too long its own way.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    kind: FailureKind
    after: int | None = None
    retry_after: float | None = None
    message: str = ""
    type: Literal["failure"] = "failure"


Fault = Annotated[HangUp | Silence | Failure, Discriminator("type")]


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: reasoning, then text, then tool calls, then how it ends.

    `deltas` gives the exact pieces of text and stands in place of `text`. Delays come before the status line, before
    the first event and between deltas; a delta that is late does not make the next one later. An answer that is not
    streamed takes as long as the stream would have. `chunk_bytes` is the size of a write, heeding neither characters
    nor events. Without `usage` the figures follow from the texts (`tokens.usage_of`).
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    text: str = ""
    _: KW_ONLY
    deltas: tuple[str, ...] = ()
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish: Finish = "stop"
    usage: Usage | None = None
    reports_usage: bool = True
    head_delay: float = 0.0
    first_delay: float = 0.0
    chunk_delay: float = 0.0
    chunk_chars: int = 8
    chunk_bytes: int | None = None
    keep_alive: float | None = None
    fault: Fault | None = None

    def __post_init__(self) -> None:
        if self.text and self.deltas:
            raise ValueError("A reply has a text or deltas, not both.")
        if self.chunk_chars < 1 or (self.chunk_bytes is not None and self.chunk_bytes < 1):
            raise ValueError("Chunks have at least one character and one byte.")

    @property
    def whole_text(self) -> str:
        return self.text or "".join(self.deltas)

    @property
    def text_pieces(self) -> tuple[str, ...]:
        return self.deltas or self.pieces(self.text)

    def pieces(self, text: str) -> tuple[str, ...]:
        size = self.chunk_chars
        return tuple(text[start : start + size] for start in range(0, len(text), size))


def steady(deltas: int, *, per_second: float) -> Reply:
    """A load of numbered words, `word0 word1 …`, so that a reader of joined deltas still knows which they were."""
    return Reply(deltas=tuple(f"word{number} " for number in range(deltas)), chunk_delay=1 / per_second)
