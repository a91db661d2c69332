"""What has come of an answer so far."""

import time
from dataclasses import dataclass, field
from typing import Any

from conversations.providers.values import ChatEvent, Finished, TextDelta, ThinkingDelta


@dataclass
class Draft:
    """Grows with the provider's events."""

    text: str = ""
    thinking: str = ""
    finished: Finished | None = None
    began: float = field(default_factory=time.monotonic)
    first_token_ms: int | None = None

    def take(self, event: ChatEvent) -> str:
        """Add what an event brings; the words among it are for the viewers."""
        match event:
            case TextDelta(text):
                self.first_token_ms = self.first_token_ms or self.elapsed_ms
                self.text += text
                return text
            case ThinkingDelta(text):
                self.thinking += text
            case Finished():
                self.finished = event
        return ""

    @property
    def content(self) -> list[dict[str, Any]]:
        """The blocks to store; none before the first word."""
        if not self.text.strip():
            return []
        thinking = [{"type": "thinking", "text": self.thinking}] if self.thinking else []
        return [*thinking, {"type": "text", "text": self.text}]

    @property
    def elapsed_ms(self) -> int:
        return round((time.monotonic() - self.began) * 1000)
