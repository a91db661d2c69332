"""What has come of an answer so far: the rounds of asking the model and carrying out what it called for."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from conversations.answers import Said
from conversations.blocks import call_block, result_block
from conversations.calibration import Estimates
from conversations.context.measured import Measured
from conversations.context.record import Record
from conversations.models import Message
from conversations.providers.errors import ProviderError
from conversations.providers.values import (
    MOST_DOLLARS,
    MOST_TOKENS,
    CallDelta,
    ChatEvent,
    ChatRequest,
    Finished,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolResult,
)
from conversations.text import Cleaner

MOST_CHARACTERS = 1_000_000
"""Far more than any model's limit lets it write; a provider that goes on writing is broken."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request as it was assembled, its record, and what its own parts were estimated at before any factor."""

    request: ChatRequest
    record: Record
    estimates: Estimates
    least: int
    """Tokens that its texts take by any tokenizer."""


@dataclass
class Round:
    """One request to the model: what it said, what it called, what came of the calls."""

    text: str = ""
    thinking: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    results: dict[str, ToolResult] = field(default_factory=dict)
    """By the id of the call, in the order in which they came."""
    finished: Finished | None = None
    asked: Prepared | None = None
    """What the model was sent."""
    refused: str = ""
    """The code of what the provider said in place of an answer; the next round asks for the same with less."""
    first_token_ms: int | None = None
    _cleaner: Cleaner = field(default_factory=Cleaner)
    _called: int = 0
    """Characters of the calls, also of those that are not whole yet."""
    _began: float | None = None
    _took_ms: int | None = None

    def begin(self) -> None:
        """The model is asked now: what comes before is not its time."""
        self._began = time.monotonic()

    @property
    def was_asked(self) -> bool:
        return self._began is not None

    @property
    def has_begun(self) -> bool:
        """Something of the answer is there, even if nobody can see it."""
        return bool(self.text or self.thinking or self._called)

    def take(self, event: ChatEvent) -> str:
        """Add what an event brings; the words among it, clean, are for the viewers.

        Raises:
            ProviderError: `endless_reply`; what came before stays.
        """
        match event:
            case TextDelta(text):
                self.first_token_ms = self.first_token_ms or self.elapsed_ms
                words = self._cleaner.feed(text[: self._room()])
                self.text += words
                return words
            case ThinkingDelta(text):
                self.thinking += text[: self._room()]
            case CallDelta(characters):
                self._called += characters
                self._room()
            case ToolCall():
                self.calls.append(event)
            case Finished():
                self.finished = event
                self._took_ms = self.elapsed_ms
        return ""

    def _room(self) -> int:
        if (room := MOST_CHARACTERS - len(self.text) - len(self.thinking) - self._called) > 0:
            return room
        raise ProviderError("endless_reply")

    @property
    def content(self) -> list[dict[str, Any]]:
        """The blocks to store; none before the first word or call."""
        text = [{"type": "text", "text": self.text}] if self.text.strip() else []
        if not text and not self.calls:
            return []
        thinking = [{"type": "thinking", "text": self.thinking}] if self.thinking else []
        return [*thinking, *text, *(call_block(call) for call in self.calls)]

    @property
    def measured(self) -> Measured | None:
        """What was asked, and what the provider reported of it; None when nothing was asked, or it was refused."""
        if self.asked is None or self.refused:
            return None
        reported, cached = (end.input_tokens, end.cached_tokens) if (end := self.finished) else (None, None)
        return Measured(self.asked.record, reported, cached, least=self.asked.least)

    @property
    def returned(self) -> list[ToolResult]:
        """The results there are, in the order of the calls."""
        return [self.results[call.id] for call in self.calls if call.id in self.results]

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds the model took, or has taken so far."""
        if self._took_ms is not None:
            return self._took_ms
        return round((time.monotonic() - self._began) * 1000) if self._began is not None else 0

    @property
    def said(self) -> list[Said]:
        """The messages to store, once the round is over."""
        counted, reasoning = (
            (self.finished.output_tokens, self.finished.reasoning_tokens) if self.finished else (None,) * 2
        )
        answer = [Said(Message.Role.ASSISTANT, self.content, counted, reasoning)] if self.content else []
        results = [result_block(result) for result in self.returned]
        return [*answer, *([Said(Message.Role.TOOL, results)] if results else [])]


@dataclass
class Draft:
    """Grows with the provider's events, and with the results of the tools."""

    rounds: list[Round] = field(default_factory=lambda: [Round()])

    @property
    def current(self) -> Round:
        return self.rounds[-1]

    @property
    def done(self) -> list[Round]:
        """The rounds before the current one that brought something."""
        return [one for one in self.rounds[:-1] if not one.refused]

    @property
    def requests(self) -> list[Measured]:
        """What the model was asked, without what it found too long."""
        return [measured for one in self.rounds if (measured := one.measured)]

    @property
    def is_tightened(self) -> bool:
        """The provider found a request of this turn too long: all that follow are made smaller."""
        return any(one.refused for one in self.rounds)

    def begin_round(self) -> None:
        self.rounds.append(Round())

    @property
    def earlier(self) -> list[Said]:
        """The messages before the one that is being written."""
        before = [said for done in self.done for said in done.said]
        return before + self.current.said if self.current.calls else before

    @property
    def content(self) -> list[dict[str, Any]]:
        """The blocks of the message that is being written; a round that called tools is over."""
        return [] if self.current.calls else self.current.content

    def tokens(self, figure: str) -> int | None:
        """Of all rounds, as far as the provider counted them; None when it counted nothing that can be."""
        counted = list(self._known(figure))
        return sum(counted) if counted and sum(counted) <= MOST_TOKENS else None

    @property
    def cost(self) -> Decimal | None:
        """Dollars of all rounds whose price is known."""
        known = list(self._known("cost"))
        return sum(known, Decimal()) if known and sum(known) < MOST_DOLLARS else None

    def _known(self, figure: str) -> Iterator[Any]:
        figures = (getattr(done.finished, figure) for done in self.rounds if done.finished)
        return (value for value in figures if value is not None)
