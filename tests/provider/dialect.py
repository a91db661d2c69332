"""What a dialect must be able to say, and the pieces both dialects are made of."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.provider.replies import Body, Failure, Reply, ToolCall, Usage
from tests.provider.tokens import usage_of

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """One reply to one request, before a dialect puts it into words."""

    reply: Reply
    body: Body
    number: int
    created: int = field(default_factory=lambda: int(time.time()))

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def is_streamed(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def usage(self) -> Usage:
        return usage_of(self.reply, self.body) if self.reply.reports_usage else Usage(0, 0)

    def calls(self, prefix: str) -> tuple[tuple[str, ToolCall], ...]:
        """The tool calls, each with its id."""
        numbered = enumerate(self.reply.tool_calls)
        return tuple((call.id or f"{prefix}{self.number}_{index}", call) for index, call in numbered)


@dataclass(frozen=True, slots=True)
class EventStream:
    """The bytes of a streamed answer: what comes before the deltas, one item a delta, what comes after them."""

    opening: bytes
    deltas: Iterator[bytes]
    closing: bytes


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    content: Json


class Dialect(Protocol):
    def broken_rule(self, body: Body) -> str: ...

    def stream(self, answer: Answer) -> EventStream: ...

    def message(self, answer: Answer) -> Json: ...

    def refusal(self, failure: Failure, answer: Answer) -> Refusal: ...

    def failure_event(self, failure: Failure, answer: Answer) -> bytes: ...

    def model_list(self, names: tuple[str, ...]) -> Json: ...


def to_json(value: object) -> str:
    """Characters as they are, so that cutting bytes cuts characters; a lone surrogate can only be escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text
