"""How long what belongs to a person lives, read from the one definition; and what is so of the whole installation."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count

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


def bin_life(user: User) -> timedelta:
    """How long what this person deletes stays in the bin; zero: it is gone at once."""
    return life_of(user).in_bin


def installation() -> Installation:
    names = tuple(Installation.__slots__)
    row = RetentionRule.objects.filter(scope=RetentionRule.Scope.EVERYONE).values(*names).first()
    return Installation(**(row or dict.fromkeys(names)))


def lives() -> Iterator[tuple[EffectiveLife, int]]:
    """Every life that somebody has, with how many people have it; first what most have."""
    people = EffectiveLife.objects.exclude(pk=SOMEBODY_NEW).values(*SAID)
    for row in people.annotate(people=Count("pk")).order_by("-people", *SAID):
        count = row.pop("people")
        yield EffectiveLife(**row), count
