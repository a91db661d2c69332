"""What a context is made of: frozen values, no rows."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from conversations.context.record import Reason, Record
from conversations.providers.values import ChatRequest, Image, ToolCall, ToolResult, ToolSpec

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
    images: tuple[Image, ...] = ()
    is_complete: bool = True
    """Whether the turn that brought it ended as it should: not stopped, failed, interrupted or under way."""
    native: object = field(default=None, compare=False, repr=False)
    """See `ChatMessage.native`; only messages of the turn that is being answered have it."""


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A question and what answered it, on one branch, in order."""

    messages: tuple[StoredMessage, ...]

    @property
    def tokens(self) -> int:
        return sum(message.tokens for message in self.messages)

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(message.id for message in self.messages)

    @property
    def prompt(self) -> str:
        return "\n\n".join(message.text for message in self.messages if message.role == "user")

    @property
    def answer(self) -> str:
        """What the assistant said, without its calls of tools."""
        return "\n\n".join(m.text for m in self.messages if m.role == "assistant" and m.text.strip())

    @property
    def is_complete(self) -> bool:
        """Answered, and to the end."""
        return bool(self.answer) and all(m.is_complete for m in self.messages if m.role == "assistant")


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools a model may be offered, and the tokens their descriptions take."""

    specs: tuple[ToolSpec, ...] = ()
    tokens: int = 0
    is_calibrated: bool = False
    """The tokens are what a request was recorded with, no estimate that a factor is still to be put to."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A text that stands for the messages of a branch up to and including `through`."""

    id: int
    text: str
    tokens: int
    through: int
    is_owners: bool = False
    """Its owner wrote it: a correction, or, when it is blank, a removal."""


@dataclass(frozen=True, slots=True)
class Recollection:
    """An earlier turn of the branch that has to do with the question; the higher its score, the more."""

    turn: StoredTurn
    score: float

    @property
    def tokens(self) -> int:
        """Of what was said; calls of tools and their results are not recalled."""
        return sum(message.tokens for message in self.turn.messages if message.role != "tool")

    @property
    def has_words(self) -> bool:
        return bool(self.turn.prompt.strip() or self.turn.answer)


@dataclass(frozen=True, slots=True)
class Past:
    """What lies before a question on its branch, as far as it was read."""

    turns: tuple[StoredTurn, ...] = ()
    """Oldest first, without a gap up to the question."""
    unread: int | None = None
    """The newest message before those; None: they are all there is."""
    opening: tuple[int, ...] = ()
    """The messages before the first question, which some conversations brought from elsewhere begin with."""
    unread_tokens: int = 0
    """What the turn of that message takes at least: of one that is too large not even all was read."""
    summaries: tuple[Summary, ...] = ()
    """Of each that ends on the branch the newest version, also of those that were written ahead."""
    recollections: tuple[Recollection, ...] = ()


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """What every request begins with."""

    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a request to a model may hold beside words."""

    tools: bool = False
    images: bool = False


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens a model can take, and how they are shared out."""

    window: int
    """Prompt and reply together."""
    reply: int
    """Kept free for the reply, and sent as its limit."""
    history: int
    """Earlier turns, at most."""
    retrieved: int = 0
    """Kept free for a summary and recollections."""
    system: int = 0
    """A system prompt that is about to be stored, at most."""

    def largest_prompt(self, *, system: int) -> int:
        """Tokens a question may have: it is never trimmed, so it must fit beside the system prompt and the reply."""
        return max(self.window - self.reply - system, 0)

    def history_beside(self, *, system: int, prompt: int) -> int:
        """Tokens left for earlier turns once the system prompt, the question, what is retrieved and the reply have
        their place."""
        return max(min(self.history, self.window - self.reply - system - prompt - self.retrieved), 0)

    def tightened(self) -> "Budget":
        """For a provider that calls a request too long which is not, by our count: all that can be cut is halved."""
        return replace(self, history=self.history // 2, retrieved=self.retrieved // 2, window=self.window * 3 // 4)


@dataclass(frozen=True, slots=True)
class Window:
    """The earlier turns that are sent, oldest first, and why those before them are not, if there are any."""

    turns: tuple[StoredTurn, ...]
    reason: Reason
    was_cut: bool = False
    """It begins later than that of the request before."""


WindowPolicy = Callable[[Past, int], Window]
"""Chooses among the earlier turns of a branch those that are sent; takes the tokens there are for them."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """A request and the record of it, made together so that they cannot differ."""

    request: ChatRequest
    record: Record
