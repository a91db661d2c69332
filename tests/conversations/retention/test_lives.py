"""How long somebody's conversations live: one view, held against a slow reckoning in Python."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import User
from conversations.models import EffectiveLife, RetentionRule
from conversations.models.retention_rule import Unconfirmed
from conversations.retention import holds
from conversations.retention.lives import life_of
from tests.factories import make_user
from tests.ruling import group_of, rule

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


def test_without_a_rule_nothing_is_deleted_by_rule_and_the_bin_has_thirty_days(owner: User) -> None:
    life = life_of(owner)
    assert (life.idle, life.age, life.temporary, life.in_bin) == (None, None, None, 30 * DAY)
    assert (life.may_keep, life.is_held) == (False, False)
    assert life_of(None).idle is None


def test_user_goes_before_group_and_group_before_everyone(owner: User, stranger: User) -> None:
    rule(idle_days=90, bin_days=10)
    rule(group=group_of(owner, stranger), idle_days=30)
    rule(owner, idle_days=200)
    assert life_of(owner).idle == 200 * DAY
    assert (life_of(stranger).idle, life_of(stranger).in_bin) == (30 * DAY, 10 * DAY)
    assert life_of(make_user()).idle == life_of(None).idle == 90 * DAY


def test_of_several_groups_the_strictest_holds(owner: User) -> None:
    rule(group=group_of(owner, name="staff"), forever=True, may_keep=True)
    rule(group=group_of(owner, name="guests"), idle_days=7, may_keep=False)
    assert (life_of(owner).idle, life_of(owner).may_keep) == (7 * DAY, False)


def test_for_ever_goes_before_the_days_of_wider_rules_and_ends_at_the_maximum(owner: User) -> None:
    rule(idle_days=90, age_days=365)
    rule(owner, forever=True)
    assert (life_of(owner).idle, life_of(owner).age) == (None, None)
    rule(idle_days=90, age_days=365, most_days=1000)
    assert (life_of(owner).idle, life_of(owner).age) == (1000 * DAY, None)


def test_ones_own_choice_shortens_down_to_the_minimum(owner: User) -> None:
    rule(idle_days=90, least_days=30)
    rule(owner, own=True, idle_days=10, bin_days=0)
    assert (life_of(owner).idle, life_of(owner).in_bin) == (30 * DAY, 0 * DAY)
    rule(owner, own=True, idle_days=400, bin_days=60)
    assert (life_of(owner).idle, life_of(owner).in_bin) == (90 * DAY, 30 * DAY)


NUMBERS = st.none() | st.integers(1, 40)
RULES = st.fixed_dictionaries(
    {
        "idle_days": NUMBERS,
        "age_days": NUMBERS,
        "temporary_hours": NUMBERS,
        "bin_days": st.none() | st.integers(0, 40),
        "may_keep": st.none() | st.booleans(),
        "forever": st.booleans(),
    }
).map(lambda said: said | ({"idle_days": None, "age_days": None} if said["forever"] else {}))
LIMITS = st.tuples(NUMBERS, NUMBERS).map(
    lambda pair: sorted(pair) if None not in pair else list(pair)  # type: ignore[type-var]  # none is None
)
MAYBE = st.none() | RULES
Said = dict[str, Any]


def reckoned(field: str, user: Said | None, groups: list[Said | None], everyone: Said | None) -> Any:
    """By the words of the rule: the first level that says anything; of groups the strictest."""

    def said(rule: Said | None) -> list[Any]:
        if rule is None:
            return []
        if field in ("idle_days", "age_days") and rule["forever"]:
            return [float("inf")]
        return [] if rule[field] is None else [rule[field]]

    for level in ([user], groups, [everyone]):
        if values := [value for rule in level for value in said(rule)]:
            return min(values)
    return {"bin_days": 30, "may_keep": False, "temporary_hours": None}.get(field, float("inf"))


def lasting(field: str, ruled: float, own: Said | None, least: int | None, most: int | None) -> timedelta | None:
    days = min(ruled, own[field] if own and own[field] is not None else float("inf"))
    if field == "idle_days" or days != float("inf"):
        days = min(days, most if most is not None else float("inf"))
    return None if days == float("inf") else max(days, least or 0) * DAY


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MAYBE, st.lists(MAYBE, max_size=3), MAYBE, MAYBE, LIMITS, st.booleans())
def test_the_view_says_what_the_words_of_the_rules_say(
    owner: User,
    user: Said | None,
    groups: list[Said | None],
    everyone: Said | None,
    own: Said | None,
    limits: list[int | None],
    is_held: bool,
) -> None:
    least, most = limits if everyone else (None, None)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM conversations_retentionrule")
    owner.groups.clear()
    for number, said in enumerate(groups):
        group = group_of(owner, name=f"group {number}")
        if said:
            RetentionRule(scope="group", group=group, **said).save(is_confirmed=True)
    if user:
        RetentionRule(scope="user", user=owner, **user).save(is_confirmed=True)
    if everyone:
        RetentionRule(scope="everyone", least_days=least, most_days=most, **everyone).save(is_confirmed=True)
    if own:
        own = own | {"forever": False, "may_keep": None}
        RetentionRule(scope="own", user=owner, **own).save(is_confirmed=True)

    life = EffectiveLife.objects.get(pk=owner.pk)
    ruled = {field: reckoned(field, user, groups, everyone) for field in RetentionRule_FIELDS}
    assert life.idle == lasting("idle_days", ruled["idle_days"], own, least, most)
    assert life.age == lasting("age_days", ruled["age_days"], own, least, most)
    hours = [n for n in (ruled["temporary_hours"], own["temporary_hours"] if own else None) if n is not None]
    assert life.temporary == (min(hours) * HOUR if hours else None)
    own_bin = own["bin_days"] if own and own["bin_days"] is not None else 10**6
    assert life.in_bin == min(ruled["bin_days"], own_bin) * DAY
    assert life.may_keep == ruled["may_keep"]


RetentionRule_FIELDS = ("idle_days", "age_days", "temporary_hours", "bin_days", "may_keep")


def test_a_hold_stands_in_the_life_while_it_lasts(owner: User, stranger: User) -> None:
    hold = holds.place(user=owner, reason="Case 7", by=stranger, now=timezone.now())
    assert life_of(owner).is_held
    assert not life_of(stranger).is_held
    assert holds.lift(hold, by=stranger, now=timezone.now())
    assert not holds.lift(hold, by=stranger, now=timezone.now())
    assert not life_of(owner).is_held


def test_a_rule_is_written_by_nobody_who_has_not_seen_what_it_does(owner: User) -> None:
    rule(idle_days=90)
    saved = RetentionRule.objects.get()
    rules = RetentionRule.objects.all()
    for write in (
        lambda: RetentionRule.objects.create(scope="user", user=owner, idle_days=1),
        saved.save,
        saved.delete,
        rules.delete,
        lambda: rules.update(idle_days=1),
        lambda: RetentionRule.objects.bulk_create([RetentionRule(scope="user", user=owner)]),
        lambda: RetentionRule.objects.bulk_update([saved], ["idle_days"]),
    ):
        with pytest.raises(Unconfirmed):
            write()
    assert RetentionRule.objects.get().idle_days == 90
