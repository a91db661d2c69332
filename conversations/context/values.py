"""What a context is made of: frozen values, no rows."""

from dataclasses import dataclass, field
from typing import Any, Literal

from conversations.providers.values import ChatRequest, ToolCall, ToolResult, ToolSpec

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message of the transcript, as far as the context cares. `tokens` are the stored count."""

    id: int
    role: Role
    text: str
    tokens: int
    calls: tuple[ToolCall, ...] = ()
    """What the assistant asked of tools."""
    results: tuple[ToolResult, ...] = ()
    """What came of it, in a message of the tool's."""
    native: object = field(default=None, compare=False, repr=False)
    """See `ChatMessage.native`; only messages of the turn that is being answered have it."""


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A question and what answered it, on one branch, in order."""

    messages: tuple[StoredMessage, ...]

    @property
    def tokens(self) -> int:
        return sum(message.tokens for message in self.messages)


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools a model may be offered, and the tokens their descriptions take."""

    specs: tuple[ToolSpec, ...] = ()
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens a model can take, and how they are shared out."""

    window: int
    """Prompt and reply together."""
    reply: int
    """Kept free for the reply, and sent as its limit."""
    history: int
    """Earlier turns, at most."""

    def largest_prompt(self, *, system: int) -> int:
        """Tokens a question may have: it is never trimmed, so it must fit beside the system prompt and the reply."""
        return max(self.window - self.reply - system, 0)

    def history_beside(self, *, system: int, prompt: int) -> int:
        """Tokens left for earlier turns once the system prompt, the question and the reply have their place."""
        return max(min(self.history, self.window - self.reply - system - prompt), 0)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a request and its size in tokens."""

    name: Literal["system", "tools", "window", "prompt", "rounds"]
    tokens: int


@dataclass(frozen=True, slots=True)
class Record:
    """What one request contained, by reference: ids and sizes, no text."""

    sections: tuple[Section, ...]
    sent: tuple[int, ...]
    """Ids of the messages sent, oldest first; the question is the last. What its turn has brought so far, calls of
    tools and their results, follows it; results too large are shortened."""
    left_out: tuple[int, ...]
    """Ids looked at and not sent: the oldest turn that was read did not fit, or lay before one that did not."""
    reason: str
    """Why something was left out: `history_budget`, or empty when nothing was."""

    def as_json(self) -> dict[str, Any]:
        return {
            "sections": {section.name: section.tokens for section in self.sections},
            "sent": list(self.sent),
            "left_out": list(self.left_out),
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Assembly:
    """A request and the record of it, made together so that they cannot differ."""

    request: ChatRequest
    record: Record
