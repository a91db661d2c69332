"""What a turn has to tell: words and calls of tools in their order, and how much of it has been written."""

from typing import Any

from conversations.streams.events import BETWEEN, fields

Event = tuple[str, str, str, str]
Part = str | dict[str, Any]


class Story:
    """Grows while it is written: `news` and `whole` note where they end, `was_written` makes that the new beginning."""

    def __init__(self) -> None:
        self.text = ""
        """All words so far as one text."""
        self._parts: list[Part] = []
        self._news: list[Part] = []
        self._taken = 0

    def say(self, text: str) -> None:
        """Append words."""
        if self.text.strip() and not isinstance(self._parts[-1], str):
            text = BETWEEN + text
        self.text += text
        _join(self._parts, text, after=0)
        _join(self._news, text, after=self._taken)

    def tell(self, call: dict[str, Any]) -> None:
        """A call, or what has become of one: in the whole it stays where it was."""
        self._news.append(call)
        for place, part in enumerate(self._parts):
            if isinstance(part, dict) and part["id"] == call["id"]:
                self._parts[place] = call
                return
        self._parts.append(call)

    @property
    def has_news(self) -> bool:
        return bool(self._news)

    def news(self) -> list[Event]:
        """Events since the last that were written."""
        self._taken = len(self._news)
        return [_event(part) for part in self._news]

    def whole(self) -> list[Event]:
        """Events that tell everything, in place of all before."""
        self._taken = len(self._news)
        first = self._parts[0] if self._parts and isinstance(self._parts[0], str) else ""
        rest = self._parts[1:] if first else self._parts
        return [fields("snapshot", text=first), *(_event(part) for part in rest)]

    def was_written(self) -> None:
        del self._news[: self._taken]
        self._taken = 0


def _join(parts: list[Part], text: str, *, after: int) -> None:
    """Words that follow words become one part with them, but for parts that are being written."""
    last = parts[-1] if len(parts) > after else None
    if isinstance(last, str):
        parts[-1] = last + text
    else:
        parts.append(text)


def _event(part: Part) -> Event:
    return fields("delta", text=part) if isinstance(part, str) else fields("tool", **part)
