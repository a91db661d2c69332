"""A life in one sentence: the same for the person it is of, for the administrator and in the privacy notice."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Protocol

from conversations.models import RetentionRule

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


class Life(Protocol):
    """See `EffectiveLife`."""

    @property
    def idle(self) -> timedelta | None: ...
    @property
    def age(self) -> timedelta | None: ...
    @property
    def temporary(self) -> timedelta | None: ...
    @property
    def in_bin(self) -> timedelta: ...
    @property
    def may_keep(self) -> bool: ...
    @property
    def is_held(self) -> bool: ...


def sentence(life: Life) -> str:
    """What happens to somebody's conversations, whole."""
    return "; ".join(_parts(life)) + "."


def length(span: timedelta) -> str:
    """In days where it is days, else in hours."""
    unit, size = ("day", DAY) if span % DAY == timedelta() else ("hour", HOUR)
    number = span // size
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


def _parts(life: Life) -> Iterator[str]:
    if life.is_held:
        yield "A legal hold is in force, so nothing is deleted until an administrator lifts it"
        return
    yield _ordinary(life)
    if life.may_keep and (life.idle or life.age):
        yield "those that are kept stay"
    if life.temporary:
        yield f"temporary ones go {length(life.temporary)} after their last message"
    if life.in_bin:
        yield f"what is deleted by hand stays in the bin for {length(life.in_bin)}"
    else:
        yield "what is deleted by hand is gone at once, without a bin"


def _ordinary(life: Life) -> str:
    idle = f"{length(life.idle)} after their last message" if life.idle else ""
    age = f"{length(life.age)} after they were begun" if life.age else ""
    if idle and age:
        return f"Conversations are deleted {idle}, and {age} at the latest"
    return (
        f"Conversations are deleted {idle or age}"
        if idle or age
        else "Conversations are kept until they are deleted by hand"
    )


def said(rule: RetentionRule) -> str:
    """What one rule says by itself, in short."""
    days = {
        "idle_days": "after the last message",
        "age_days": "after the beginning",
        "bin_days": "in the bin",
        "trace_days": "of traces",
        "log_days": "of log lines",
        "least_days": "at least",
        "most_days": "at most",
    }
    parts = ["for ever"] if rule.forever else []
    parts += [
        f"{length(value * DAY)} {what}" for name, what in days.items() if (value := getattr(rule, name)) is not None
    ]
    if rule.temporary_hours:
        parts.append(f"temporary ones {length(rule.temporary_hours * HOUR)}")
    if rule.may_keep is not None:
        parts.append("people may keep some" if rule.may_keep else "nobody keeps any")
    return " · ".join(parts) or "nothing"
