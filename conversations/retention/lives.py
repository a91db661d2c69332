"""How long what belongs to a person lives, read from the one definition; and what is so of the whole installation."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, Q

from accounts.models import User
from conversations.models import EffectiveLife, RetentionRule
from conversations.models.effective_life import SOMEBODY_NEW

SAID = ("idle", "age", "temporary", "in_bin", "may_keep", "is_held")


@dataclass(frozen=True, slots=True)
class Installation:
    """Null: for ever."""

    trace_days: int | None
    log_days: int | None
    least_days: int | None
    most_days: int | None


def life_of(user: User | None) -> EffectiveLife:
    """Of a person; None: of somebody new."""
    return EffectiveLife.objects.get(pk=user.pk if user else SOMEBODY_NEW)


def installation() -> Installation:
    names = tuple(Installation.__slots__)
    row = RetentionRule.objects.filter(scope=RetentionRule.Scope.EVERYONE).values(*names).first()
    return Installation(**(row or dict.fromkeys(names)))


def lives(user_id: int | None = None) -> Iterator[tuple[EffectiveLife, int]]:
    """Every life that somebody has, or this person, with how many people have it; first what most have."""
    whose = Q() if user_id is None else Q(pk=user_id)
    people = EffectiveLife.objects.filter(whose).exclude(pk=SOMEBODY_NEW).values(*SAID)
    for row in people.annotate(people=Count("pk")).order_by("-people", *SAID):
        count = row.pop("people")
        yield EffectiveLife(**row), count
