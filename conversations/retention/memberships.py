"""Who is in a group for which there is a rule: changed in two steps, as the rule itself would be.

A group's rule holds for whoever is put into it at once, and a wider one for whoever is taken out.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import Group
from django.core import signing
from django.db import transaction
from django.db.models import Q

from accounts.models import User
from conversations.models import RetentionChange, RetentionRule
from conversations.refusals import ChangeNotConfirmed
from conversations.retention.changes import VALID, Effect, effect_of, hold_the_rules, newest_change

SALT = "retention membership"
ANY_BUT_OWN = ~Q(scope="own")


@dataclass(frozen=True, slots=True)
class Proposal(Effect):
    """What it does to what `user` has that `groups` are all their groups which have rules."""

    user: User
    groups: tuple[Group, ...]
    token: str


def ruled(ids: Collection[int]) -> set[int]:
    """Of these groups those for which there is a rule."""
    found = RetentionRule.objects.filter(scope=RetentionRule.Scope.GROUP, group__in=ids)
    return set(found.values_list("group_id", flat=True))


def ruled_groups_of(user: User) -> set[int]:
    return ruled([*user.groups.values_list("pk", flat=True)])


def propose(user: User, group_ids: Collection[int], *, by: User, now: datetime) -> Proposal:
    """Of all groups that have rules `user` shall be in these. Nothing is changed; `confirm` with the token does it."""
    wanted = ruled(group_ids)
    effect = effect_of(lambda: _put(user, wanted), now=now, owner=user.pk)
    told = {
        "user": user.pk,
        "groups": sorted(wanted),
        "was": sorted(ruled_groups_of(user)),
        "by": by.pk,
        "seen": newest_change(ANY_BUT_OWN),
        "due": effect.then.counts,
    }
    groups = tuple(Group.objects.filter(pk__in=wanted).order_by("name"))
    return Proposal(**effect.told, user=user, groups=groups, token=signing.dumps(told, salt=SALT))


def confirm(token: str, *, user: User, by: User, now: datetime) -> None:
    """Make the change that `propose` showed.

    Raises:
        ChangeNotConfirmed: the token is altered, too old, somebody else's or about somebody else, or rules or groups
            have changed since.
    """
    try:
        told = signing.loads(token, salt=SALT, max_age=VALID)
    except signing.BadSignature as error:
        raise ChangeNotConfirmed from error
    with transaction.atomic():
        hold_the_rules()
        are = (user.pk, by.pk, newest_change(ANY_BUT_OWN), sorted(ruled_groups_of(user)))
        if are != (told["user"], told["by"], told["seen"], told["was"]):
            raise ChangeNotConfirmed
        RetentionChange.objects.create(
            at=now,
            by=by,
            what=RetentionChange.What.MEMBERSHIP,
            user=user,
            before={"groups": _names(told["was"])},
            after={"groups": _names(told["groups"])},
            due=told["due"],
        )
        _put(user, set(told["groups"]))


def _put(user: User, wanted: set[int]) -> None:
    is_in = ruled_groups_of(user)
    user.groups.remove(*is_in - wanted)
    user.groups.add(*wanted - is_in)


def _names(ids: Collection[int]) -> list[str]:
    return list(Group.objects.filter(pk__in=ids).order_by("name").values_list("name", flat=True))
