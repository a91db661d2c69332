"""Rules are changed in two steps: what a change deletes is shown, then whoever saw it confirms it.

The preview is made under the changed rules, by the question the purge asks, in a transaction that is taken back.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from django.contrib.auth.models import Group
from django.core import signing
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.db.models import Q

from accounts.models import User
from conversations.models import RetentionChange, RetentionRule
from conversations.refusals import ChangeNotConfirmed
from conversations.retention.due import also_due, due
from conversations.retention.lives import lives
from conversations.retention.preview import Preview, preview
from conversations.retention.wording import sentence

SAID = (
    "idle_days",
    "age_days",
    "forever",
    "temporary_hours",
    "bin_days",
    "may_keep",
    "trace_days",
    "log_days",
    "least_days",
    "most_days",
)
"""What a rule may say. What is left out is left to the next wider rule."""

SALT = "retention change"
VALID = timedelta(minutes=15)
"""How long somebody may think about what they were shown."""
ONE_AT_A_TIME = 0x72756C65
"""Names the advisory lock of PostgreSQL under which rules are changed."""

What = RetentionChange.What


@dataclass(frozen=True, slots=True)
class Change:
    """What the rule for somebody shall say; `says` None: there shall be none."""

    scope: str
    says: Mapping[str, Any] | None
    group_id: int | None = None
    user_id: int | None = None

    @property
    def target(self) -> dict[str, Any]:
        return {"scope": self.scope, "group_id": self.group_id, "user_id": self.user_id}


@dataclass(frozen=True, slots=True)
class Effect:
    """What a change does.

    `now` and `then` are what is due without and with it, `lives` what holds for whom then. `more` conversations are
    made due by it, `fewer` are due now and would stay: it may do both.
    """

    now: Preview
    then: Preview
    more: int
    lives: tuple[tuple[str, int], ...]

    @property
    def fewer(self) -> int:
        return self.now.conversations + self.more - self.then.conversations

    @property
    def told(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(Effect)}


@dataclass(frozen=True, slots=True)
class Proposal(Effect):
    """What a change of the rules does; one's own choice, to oneself."""

    change: Change
    token: str


def effect_of(make: Callable[[], object], *, now: datetime, owner: int | None = None) -> Effect:
    """What `make` does, to everybody or to one person; it is taken back."""
    whose = {} if owner is None else {"owner": owner}
    before = preview(now, owner=owner)
    over = list(due(now).filter(**whose).values_list("pk", flat=True))
    with _taken_back():
        make()
        then, lived = preview(now, owner=owner), tuple((sentence(life), people) for life, people in lives(owner))
        more = also_due(now, beside=over).filter(**whose).count()
    return Effect(before, then, more, lived)


def propose(change: Change, *, by: User | None, now: datetime) -> Proposal:
    """Nothing is changed; `confirm` with the token of what is returned does it.

    Raises:
        ValidationError: the rule says what no rule may.
    """
    owner = change.user_id if change.scope == RetentionRule.Scope.OWN else None
    effect = effect_of(lambda: _apply(change), now=now, owner=owner)
    told = {
        **_told(change),
        "by": by and by.pk,
        "seen": _newest_change(change),
        "members": _members(change),
        "due": effect.then.counts,
    }
    return Proposal(**effect.told, change=change, token=signing.dumps(told, salt=SALT))


def confirm(token: str, *, by: User | None, now: datetime, change: Change | None = None) -> RetentionRule | None:
    """Make the change that `propose` showed, which is `change` where that is known; None: the rule was removed.

    Raises:
        ChangeNotConfirmed: the token is altered, too old, or somebody else's, or the rules, or who is in the
            group, have changed since, or whom they were for is gone.
    """
    try:
        told = signing.loads(token, salt=SALT, max_age=VALID)
    except signing.BadSignature as error:
        raise ChangeNotConfirmed from error
    seen, members, counts, whose = (told.pop(name) for name in ("seen", "members", "due", "by"))
    shown = Change(**told)
    if change is not None and _told(change) != told:
        raise ChangeNotConfirmed
    with transaction.atomic():
        hold_the_rules()
        if (whose, seen, members) != (by and by.pk, _newest_change(shown), _members(shown)):
            raise ChangeNotConfirmed
        before = said_by(rule_of(shown))
        try:
            rule = _apply(shown)
        except ValidationError as error:  # It was valid when it was shown: whom it is for is gone.
            raise ChangeNotConfirmed from error
        _record(shown, before, rule, by=by, due=counts, now=now)
    return rule


def _told(change: Change) -> dict[str, Any]:
    """As a token carries it."""
    says = change.says
    said = None if says is None else {name: value for name, value in says.items() if value is not None}
    return {**change.target, "says": said}


def rule_of(change: Change) -> RetentionRule | None:
    rule: RetentionRule | None = RetentionRule.objects.filter(**change.target).first()
    return rule


def said_by(rule: RetentionRule | None) -> dict[str, Any]:
    """What a rule says, without what it leaves open."""
    said = {name: getattr(rule, name) for name in SAID} if rule else {}
    return {name: value for name, value in said.items() if value is not None}


def _apply(change: Change) -> RetentionRule | None:
    rule = rule_of(change)
    if change.says is None:
        if rule is not None:
            rule.delete(is_confirmed=True)
        return None
    if unknown := set(change.says) - set(SAID):
        raise ValidationError(f"A rule says nothing of {', '.join(sorted(unknown))}.")
    rule = rule or RetentionRule(**change.target)
    for name in SAID:
        setattr(rule, name, change.says.get(name, False if name == "forever" else None))
    rule.full_clean()
    rule.save(is_confirmed=True)
    return rule


def _record(
    change: Change,
    before: dict[str, Any],
    rule: RetentionRule | None,
    *,
    by: User | None,
    due: dict[str, int],
    now: datetime,
) -> None:
    what = What.RULE_REMOVED if rule is None else What.RULE_CHANGED if before else What.RULE_MADE
    group = Group.objects.filter(pk=change.group_id or 0).values_list("name", flat=True).first()
    RetentionChange.objects.create(
        at=now,
        by=by,
        what=what,
        scope=change.scope,
        group=group or "",
        user_id=change.user_id,
        before=before,
        after=said_by(rule),
        due=due,
    )


def _members(change: Change) -> str:
    """Whom the rule of a group is for: who enters one that has no rule yet is recorded nowhere."""
    if change.group_id is None:
        return ""
    ids = User.objects.filter(groups=change.group_id).order_by("pk").values_list("pk", flat=True)
    return sha256(",".join(map(str, ids)).encode()).hexdigest()


def _newest_change(change: Change) -> int:
    """Of what has a say in what the change does: of rules of administrators, and of this person's own."""
    return newest_change(~Q(scope="own") | Q(scope="own", user=change.user_id))


def newest_change(concerned: Q) -> int:
    """Of rules and of who is in a group that has one."""
    changed = [What.RULE_MADE, What.RULE_CHANGED, What.RULE_REMOVED, What.MEMBERSHIP]
    rows = RetentionChange.objects.filter(concerned, what__in=changed)
    newest: int | None = rows.order_by("-pk").values_list("pk", flat=True).first()
    return newest or 0


def hold_the_rules() -> None:
    """Nobody changes a rule, or who is in a group, before this transaction is over."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ONE_AT_A_TIME])


@contextmanager
def _taken_back() -> Iterator[None]:
    """Whatever is changed inside is as it was before."""
    with transaction.atomic():
        point = transaction.savepoint()
        try:
            yield
        finally:
            transaction.savepoint_rollback(point)
