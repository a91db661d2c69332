"""When a conversation is over: the one condition that readers, preview and purge share.

How long it may last is said by the view behind `EffectiveLife`; here it is compared with the conversation's times.
"""

from collections.abc import Callable, Collection
from datetime import datetime
from enum import StrEnum

from django.apps import apps
from django.db.models import DateTimeField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet, Value
from django.db.models.lookups import Exact, LessThanOrEqual

Column = Callable[[str], F]
"""How a column is named from where the condition stands: of the conversation, or of its owner's life."""


class Kind(StrEnum):
    """Why a conversation is over. Each has an index of the conversation's."""

    IDLE = "idle"
    AGE = "age"
    TEMPORARY = "temporary"
    BIN = "bin"


BY_RULE = (Kind.IDLE, Kind.AGE, Kind.TEMPORARY)
"""What is over for these exists for no reader any more. What is in the bin is in no list, anyway."""


def over(kind: Kind, now: datetime, *, row: Column, life: Column) -> Q:
    """The condition of one kind; a life that is null is over never, and one that is held is looked at elsewhere."""
    if kind == Kind.BIN:
        return _past("trashed_at", "in_bin", now, row=row, life=life)
    if kind == Kind.TEMPORARY:
        return Q(Exact(row("temporary"), rhs=True)) & _past("last_activity_at", "temporary", now, row=row, life=life)
    is_kept = Q(Exact(row("kept"), rhs=True)) & Q(Exact(life("may_keep"), rhs=True))
    since = "last_activity_at" if kind == Kind.IDLE else "created_at"
    return _past(since, kind.value, now, row=row, life=life) & ~is_kept


def any_over(kinds: Collection[Kind], now: datetime, *, row: Column, life: Column) -> Q:
    conditions = [over(kind, now, row=row, life=life) for kind in kinds]
    return Q(*conditions, _connector=Q.OR)


def _past(since: str, length: str, now: datetime, *, row: Column, life: Column) -> Q:
    """The time is alone on the left, where an index is of use."""
    until = ExpressionWrapper(Value(now, DateTimeField()) - life(length), output_field=DateTimeField())
    return Q(LessThanOrEqual(row(since), until))


def is_over(
    now: datetime, *, kinds: Collection[Kind] = BY_RULE, through: str = "", owner: object | None = None
) -> Exists:
    """For a reader: whether the conversation that `through` leads to is over for one of the reasons, and not held.

    `owner` is that of all the conversations looked at, where one knows: their life is then looked up once.
    """

    def row(name: str) -> F:
        return OuterRef(f"{through}{name}")

    lives: QuerySet[object] = apps.get_model("conversations", "EffectiveLife").objects.all()
    of_owner = lives.filter(user=row("owner") if owner is None else owner, is_held=False)
    return Exists(of_owner.filter(any_over(kinds, now, row=row, life=F)).exclude(_hold(OuterRef(row("pk")))))


def _hold(conversation: OuterRef) -> Exists:
    holds: QuerySet[object] = apps.get_model("conversations", "Hold").objects.all()
    return Exists(holds.filter(conversation=conversation, lifted_at__isnull=True))


def hold_on_it() -> Exists:
    """Whether a conversation, asked for itself, is held; with its owner is another matter."""
    return _hold(OuterRef("pk"))
