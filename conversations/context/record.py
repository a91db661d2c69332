"""The record of a request: what it contained, by reference. Ids and sizes, no text.

It is made together with the request and stored with the turn. What a person is shown of a context is read from it.
"""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

Reason = Literal["history_budget", "turn_too_large", "pair_limit", "not_complete"]

REASONS: Mapping[str, str] = {
    "history_budget": "The turns after these take all the room there is for earlier ones.",
    "turn_too_large": "The last turn of these is larger than all the room there is for earlier ones.",
    "pair_limit": "Only a fixed number of earlier turns is sent.",
    "not_complete": "The reply did not come to its end.",
}
"""Why messages were not sent, in words for the person whose messages they are."""

SectionName = Literal["system", "tools", "summary", "window", "recalled", "prompt", "rounds"]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a request and its size in tokens, by our count."""

    name: SectionName
    tokens: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Messages of the branch that were not sent, oldest first."""

    ids: tuple[int, ...]
    reason: Reason
    and_before: bool = False
    """So was everything before the first of them; it was not even looked at."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """An earlier turn that was brought back, and how well it matched the question."""

    ids: tuple[int, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Record:
    """What one request contained."""

    sections: tuple[Section, ...]
    sent: tuple[int, ...]
    """Ids of the messages sent, oldest first; the question is the last. What its turn has brought so far, calls of
    tools and their results, follows it; results too large are shortened."""
    left_out: tuple[LeftOut, ...] = ()
    summary: int | None = None
    """Id of the summary that stood for what lies before the window."""
    summarised_through: int | None = None
    """The newest message it stands for."""
    recalled: tuple[Recalled, ...] = ()
    tools: tuple[str, ...] = ()
    """Names of the tools the model was told of."""
    was_cut: bool = False
    """The window begins later than that of the request before."""
    was_tightened: bool = False
    """The provider found the request too long; this one was made to be smaller."""
    shortened: int = 0
    """Results of tools that were cut to the room there was."""
    images_left_out: int = 0
    """Images the model does not see because it takes none."""
    window: int = 0
    """Tokens the model takes, prompt and reply together, at this request."""
    reply: int = 0
    """Tokens kept free for the reply."""
    history: int = 0
    """Tokens there were for earlier turns."""

    @property
    def start(self) -> int:
        """The message the window begins with: the question, when no earlier turn is sent."""
        return self.sent[0]

    @property
    def tokens(self) -> int:
        """The whole request, by our count."""
        return sum(section.tokens for section in self.sections)

    def tokens_of(self, name: SectionName) -> int:
        return sum(section.tokens for section in self.sections if section.name == name)

    def as_json(self) -> dict[str, Any]:
        """As it is stored with the turn."""
        sections = {section.name: section.tokens for section in self.sections}
        return asdict(self) | {"sections": sections, "start": self.start}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any] | None) -> "Record | None":
        """None when nothing was recorded, or nothing that can be read: an old record costs nobody a page."""
        if not isinstance(stored, Mapping) or not stored.get("sent"):
            return None
        known = {name: stored[name] for name in PLAIN if name in stored}
        try:
            return cls(
                sections=tuple(Section(name, int(stored["sections"][name])) for name in _in_order(stored["sections"])),
                sent=tuple(stored["sent"]),
                left_out=_left_out(stored.get("left_out", [])),
                recalled=tuple(Recalled(tuple(one["ids"]), one["score"]) for one in stored.get("recalled", [])),
                tools=tuple(str(name) for name in stored.get("tools", [])),
                **known,
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            return None


PLAIN = (
    *("summary", "summarised_through", "was_cut", "was_tightened", "shortened", "images_left_out"),
    *("window", "reply", "history"),
)
"""Fields that are stored as they are."""


def _in_order(names: Collection[str]) -> list[SectionName]:
    """The database keeps no order of an object's keys; a request has one. Raises `ValueError` for another name."""
    known: tuple[SectionName, ...] = get_args(SectionName)
    return sorted(names, key=known.index)  # type: ignore[arg-type]  # what is no name is refused by `index`


def _left_out(stored: Any) -> tuple[LeftOut, ...]:
    """Records of the first versions name ids alone; the reason stood beside them."""
    if all(isinstance(one, int) for one in stored):
        return (LeftOut(tuple(stored), "history_budget"),) if stored else ()
    return tuple(LeftOut(tuple(one["ids"]), one["reason"], bool(one.get("and_before"))) for one in stored)
