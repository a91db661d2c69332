"""What has come of an answer so far."""

import time
from dataclasses import dataclass, field
from typing import Any

from conversations.providers.errors import ProviderError
from conversations.providers.values import ChatEvent, Finished, TextDelta, ThinkingDelta
from conversations.text import Cleaner

MOST_CHARACTERS = 1_000_000
"""Far more than any model's limit lets it write; a provider that goes on writing is broken."""


@dataclass
class Draft:
    """Grows with the provider's events."""

    text: str = ""
    thinking: str = ""
    finished: Finished | None = None
    began: float = field(default_factory=time.monotonic)
    first_token_ms: int | None = None
    _cleaner: Cleaner = field(default_factory=Cleaner)

    def take(self, event: ChatEvent) -> str:
        """Add what an event brings; the words among it, clean, are for the viewers.

        Raises:
            ProviderError: `endless_reply`; what came before stays.
        """
        if len(self.text) + len(self.thinking) > MOST_CHARACTERS:
            raise ProviderError("endless_reply")
        match event:
            case TextDelta(text):
                self.first_token_ms = self.first_token_ms or self.elapsed_ms
                words = self._cleaner.feed(text)
                self.text += words
                return words
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
