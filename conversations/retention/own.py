"""What a person chooses for themselves: a shorter life, within what administrators allow."""

from collections.abc import Mapping
from datetime import timedelta

from accounts.models import User
from conversations.models import EffectiveLife, RetentionRule
from conversations.refusals import BeyondLimits
from conversations.retention.changes import Change
from conversations.retention.lives import life_of
from conversations.retention.wording import DAY, HOUR, length

CHOICES: Mapping[str, tuple[str, timedelta]] = {
    "idle_days": ("ruled_idle", DAY),
    "age_days": ("ruled_age", DAY),
    "temporary_hours": ("ruled_temporary", HOUR),
    "bin_days": ("ruled_in_bin", DAY),
}
"""What a person may choose, what it is compared with, and what it is counted in."""


def own_rule(user: User) -> RetentionRule | None:
    rule: RetentionRule | None = RetentionRule.objects.filter(scope=RetentionRule.Scope.OWN, user=user).first()
    return rule


def chosen(user: User) -> dict[str, int | None]:
    rule = own_rule(user)
    return {name: getattr(rule, name) if rule else None for name in CHOICES}


def limits(life: EffectiveLife) -> dict[str, dict[str, int | None]]:
    """The least and the most that can be chosen; None: no such limit."""
    floor = life.floor // DAY if life.floor else 1
    least = {"idle_days": floor, "age_days": floor, "temporary_hours": 1, "bin_days": 0}
    return {
        name: {"least": least[name], "most": counted_in(unit, getattr(life, column))}
        for name, (column, unit) in CHOICES.items()
    }


def own_change(user: User, says: Mapping[str, int | None]) -> Change:
    """The change that would make these their choices; all empty: they choose nothing. What was chosen before may have
    come to be beyond the limits, and may stay: it has no effect there.

    Raises:
        BeyondLimits
    """
    life, before = life_of(user), chosen(user)
    for name, limit in limits(life).items():
        value, least, most = says.get(name), limit["least"] or 0, limit["most"]
        if value is None or value == before[name]:
            continue
        if not (least <= value and (most is None or value <= most)):
            unit = CHOICES[name][1]
            raise BeyondLimits(name, least=least, most=most, shown=_shown(least, most, unit))
    is_empty = all(value is None for value in says.values())
    return Change(RetentionRule.Scope.OWN, None if is_empty else dict(says), user_id=user.pk)


def counted_in(unit: timedelta, span: timedelta | None) -> int | None:
    return None if span is None else span // unit


def _shown(least: int, most: int | None, unit: timedelta) -> str:
    if most is None:
        return f"{length(least * unit)} or more"
    return length(most * unit) if least == most else f"from {length(least * unit)} to {length(most * unit)}"
