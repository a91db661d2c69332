"""The record of a request: what it contained, by reference. Ids and sizes, no text.

It is made together with the request and stored with the turn. What a person is shown of a context is read from it.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

Reason = Literal["history_budget", "turn_too_large", "pair_limit", "not_complete", "no_question"]

REASONS: Mapping[str, str] = {
    "history_budget": "The room for recent turns was full, and the oldest made way.",
    "turn_too_large": "The last turn of these is larger than all the room there is for recent ones.",
    "pair_limit": "Only a fixed number of recent turns is sent.",
    "not_complete": "The reply did not come to its end.",
    "no_question": "No question stands before these.",
}
"""Why messages were not sent, in words for the person whose messages they are."""

NEVER_SENT: Collection[Reason] = ("not_complete", "no_question")
"""What is left out whatever room there is: it is missed in no request."""

CONTEXT_TRUNCATED = "context_truncated"
"""The code of that warning, for programs."""

TRUNCATED = (
    "The server read only about {read:,} of the {sent:,} tokens that were sent: its context window is set smaller than "
    "PocketChat was told. The oldest part of the conversation was cut off there, without a word."
)

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
    instructions: str = ""
    """A fingerprint of the system prompt: whether it is still that of the conversation."""
    beginning: str = ""
    """A fingerprint of what comes before the window, system prompt and tools: whether it is that of another request."""
    reported: int | None = None
    """Prompt tokens of this request as its provider counted them; None until it is answered, or if it does not say."""
    truncated: bool = False
    """The provider read clearly less than it was sent."""

    @property
    def start(self) -> int:
        """The message the window begins with: the question, when no earlier turn is sent."""
        return self.sent[0]

    @property
    def reason(self) -> Reason | None:
        """Why the window did not begin earlier; None when nothing stands before it."""
        return next((span.reason for span in reversed(self.left_out) if span.reason != "not_complete"), None)

    @property
    def leaves_out_earlier(self) -> bool:
        """Whether there are turns before the window."""
        return any(span.reason not in NEVER_SENT for span in self.left_out)

    @property
    def tokens(self) -> int:
        """The whole request, by our count."""
        return sum(section.tokens for section in self.sections)

    @property
    def warning(self) -> str:
        """What the person who asked should know of this request, in a sentence; empty when there is nothing."""
        if not self.truncated or self.reported is None:
            return ""
        return TRUNCATED.format(read=_about(self.reported), sent=_about(self.tokens))

    def tokens_of(self, name: SectionName) -> int:
        return sum(section.tokens for section in self.sections if section.name == name)

    def as_json(self) -> dict[str, Any]:
        """As it is stored with the turn."""
        return {
            "sections": {section.name: section.tokens for section in self.sections},
            "start": self.start,
            "sent": list(self.sent),
            "tools": list(self.tools),
            "left_out": [
                {"ids": list(one.ids), "reason": one.reason, "and_before": one.and_before} for one in self.left_out
            ],
            "recalled": [{"ids": list(one.ids), "score": one.score} for one in self.recalled],
            **{name: getattr(self, name) for name in PLAIN},
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any] | None) -> "Record | None":
        """None when nothing was recorded, or nothing that can be read: an old record costs nobody a page."""
        if not isinstance(stored, Mapping) or not stored.get("sent"):
            return None
        try:
            return cls(
                sections=tuple(
                    Section(name, _number(stored["sections"][name])) for name in _in_order(stored["sections"])
                ),
                sent=_ids(stored["sent"]),
                left_out=_left_out(stored.get("left_out") or []),
                recalled=tuple(Recalled(_ids(one["ids"]), float(one["score"])) for one in stored.get("recalled") or []),
                tools=tuple(str(name) for name in stored.get("tools") or []),
                **{name: read(stored[name]) for name, read in PLAIN.items() if name in stored},
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            return None


def _number(value: Any) -> int:
    """A number that the database takes for an id or a count, and nothing that looks like one."""
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise TypeError
    return value


def _ids(values: Any) -> tuple[int, ...]:
    return tuple(_number(value) for value in values)


def _reason(name: Any) -> Reason:
    if name not in get_args(Reason):
        raise ValueError
    return name  # type: ignore[no-any-return]  # it is one of them


def _number_or_none(value: Any) -> int | None:
    return None if value is None else _number(value)


PLAIN: Mapping[str, Callable[[Any], Any]] = {
    "summary": _number_or_none,
    "summarised_through": _number_or_none,
    "was_cut": bool,
    "was_tightened": bool,
    "shortened": _number,
    "images_left_out": _number,
    "window": _number,
    "reply": _number,
    "history": _number,
    "instructions": str,
    "beginning": str,
    "reported": _number_or_none,
    "truncated": bool,
}
"""Fields that are stored as they are, and how each is read back."""


def _about(tokens: int) -> int:
    """To two digits: neither figure is exact enough for more."""
    return round(tokens, 2 - len(str(tokens)))


def _in_order(names: Collection[str]) -> list[SectionName]:
    """The database keeps no order of an object's keys; a request has one. Raises `ValueError` for another name."""
    known: tuple[SectionName, ...] = get_args(SectionName)
    return sorted(names, key=known.index)  # type: ignore[arg-type]  # what is no name is refused by `index`


def _left_out(stored: Any) -> tuple[LeftOut, ...]:
    """Records of the first versions name ids alone."""
    if all(isinstance(one, int) for one in stored):
        return (LeftOut(_ids(stored), "history_budget"),) if stored else ()
    return tuple(LeftOut(_ids(one["ids"]), _reason(one["reason"]), bool(one.get("and_before"))) for one in stored)
