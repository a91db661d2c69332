"""When a conversation is over: the one condition that readers, preview and purge share.

How long it may last is said by the view behind `EffectiveLife`; here it is compared with the conversation's times.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db.models import BooleanField, DateTimeField, F, Func, Value


class Kind(StrEnum):
    """Why a conversation is over. Each has an index of the conversation's."""

    IDLE = "idle"
    AGE = "age"
    TEMPORARY = "temporary"
    BIN = "bin"


BY_RULE = (Kind.IDLE, Kind.AGE, Kind.TEMPORARY)
"""What is over for these exists for no reader any more. What is in the bin is in no list, anyway."""

COLUMNS = ("id", "owner_id", "last_activity_at", "created_at", "trashed_at", "temporary", "kept")

NOT_KEPT = "NOT ({kept} AND life.may_keep)"


@dataclass(frozen=True, slots=True)
class Limit:
    """A conversation is over when the `length` of its owner's life has passed `since`; of those for which `only`."""

    since: str
    length: str
    only: str

    @property
    def is_past(self) -> str:
        """Takes the moment, once. A life that is null is never past. The column is alone on its side, for its index."""
        return f"{{{self.since}}} <= %s - life.{self.length} AND {self.only}"

    @property
    def end(self) -> str:
        """The first moment at which it is past."""
        return f"CASE WHEN {self.only} THEN {{{self.since}}} + life.{self.length} END"


LIMITS: Mapping[Kind, Limit] = {
    Kind.IDLE: Limit("last_activity_at", "idle", NOT_KEPT),
    Kind.AGE: Limit("created_at", "age", NOT_KEPT),
    Kind.TEMPORARY: Limit("last_activity_at", "temporary", "{temporary}"),
    Kind.BIN: Limit("trashed_at", "in_bin", "{trashed_at} IS NOT NULL"),
}

HOLD = "EXISTS (SELECT FROM conversations_hold AS hold WHERE hold.conversation_id = {id} AND hold.lifted_at IS NULL)"
"""On the conversation itself; one on its owner stands in the owner's life."""


def past(kinds: Collection[Kind], columns: Mapping[str, str]) -> str:
    """The condition, with the columns named as they are where it stands; takes the moment once for each kind."""
    return " OR ".join(LIMITS[kind].is_past.format(**columns) for kind in kinds)


LIFE_OF_IT = "FROM conversations_effectivelife AS life WHERE life.user_id = {owner} AND NOT life.is_held AND NOT {hold}"


class OfLife(Func):
    """Something of the conversation that `through` leads to, by its owner's life; nothing where it is held.

    SQL by itself: put together of Django's parts it would cost more time than all the rest of a query.
    """

    def __init__(self, *, through: str = "", owner: int | None = None) -> None:
        """`owner` is that of all the conversations looked at, where one knows: their life is then looked up once."""
        whose = F(f"{through}owner_id") if owner is None else Value(owner)
        super().__init__(whose, *(F(f"{through}{name}") for name in COLUMNS))

    def as_sql(self, compiler: Any, connection: Any, *_: Any, **__: Any) -> tuple[str, Any]:  # noqa: ARG002  # Django's signature
        (owner, of_owner), *rest = [compiler.compile(source) for source in self.get_source_expressions()]
        columns = dict(zip(COLUMNS, (sql for sql, _ in rest), strict=True))
        life = LIFE_OF_IT.format(owner=owner, hold=HOLD.format(**columns))
        sql, params = self.asked(life, columns)
        return sql, [*of_owner, *params]

    def asked(self, life: str, columns: Mapping[str, str]) -> tuple[str, list[Any]]:
        raise NotImplementedError


class IsOver(OfLife):
    """For a reader: whether the conversation is over at `now` for one of the reasons."""

    output_field = BooleanField()

    def __init__(self, now: datetime, kinds: Collection[Kind] = BY_RULE, **where: Any) -> None:
        super().__init__(**where)
        self.now = now
        self.kinds = tuple(kinds)

    def asked(self, life: str, columns: Mapping[str, str]) -> tuple[str, list[Any]]:
        return f"EXISTS (SELECT {life} AND ({past(self.kinds, columns)}))", [self.now for _ in self.kinds]


class EndsAt(OfLife):
    """When the conversation will be over, if nothing more happens in it; null: never."""

    output_field = DateTimeField()

    def asked(self, life: str, columns: Mapping[str, str]) -> tuple[str, list[Any]]:
        ends = ", ".join(limit.end.format(**columns) for limit in LIMITS.values())
        return f"(SELECT least({ends}) {life})", []
