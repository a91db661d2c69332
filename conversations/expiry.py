"""When a conversation is over: the one condition that readers, preview and purge share.

How long it may last is said by the view behind `EffectiveLife`; here it is compared with the conversation's times.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db.models import BooleanField, F, Func, Value


class Kind(StrEnum):
    """Why a conversation is over. Each has an index of the conversation's."""

    IDLE = "idle"
    AGE = "age"
    TEMPORARY = "temporary"
    BIN = "bin"


BY_RULE = (Kind.IDLE, Kind.AGE, Kind.TEMPORARY)
"""What is over for these exists for no reader any more. What is in the bin is in no list, anyway."""

COLUMNS = ("id", "owner_id", "last_activity_at", "created_at", "trashed_at", "temporary", "kept")

PAST: Mapping[Kind, str] = {
    Kind.IDLE: "{last_activity_at} <= %s - life.idle AND NOT ({kept} AND life.may_keep)",
    Kind.AGE: "{created_at} <= %s - life.age AND NOT ({kept} AND life.may_keep)",
    Kind.TEMPORARY: "{temporary} AND {last_activity_at} <= %s - life.temporary",
    Kind.BIN: "{trashed_at} <= %s - life.in_bin",
}
"""Each takes the moment, once. A life that is null is never past. The column is alone on its side, for its index."""

HOLD = "EXISTS (SELECT FROM conversations_hold AS hold WHERE hold.conversation_id = {id} AND hold.lifted_at IS NULL)"
"""On the conversation itself; one on its owner stands in the owner's life."""

OVER = (
    "EXISTS (SELECT FROM conversations_effectivelife AS life "
    "WHERE life.user_id = {owner} AND NOT life.is_held AND ({past}) AND NOT {hold})"
)


def past(kinds: Collection[Kind], columns: Mapping[str, str]) -> str:
    """The condition, with the columns named as they are where it stands; takes the moment once for each kind."""
    return " OR ".join(PAST[kind].format(**columns) for kind in kinds)


class IsOver(Func):
    """For a reader: whether the conversation that `through` leads to is over for one of the reasons, and not held.

    SQL by itself: put together of Django's parts it would cost more time than all the rest of a query.
    """

    output_field = BooleanField()

    def __init__(
        self, now: datetime, kinds: Collection[Kind] = BY_RULE, *, through: str = "", owner: int | None = None
    ) -> None:
        """`owner` is that of all the conversations looked at, where one knows: their life is then looked up once."""
        whose = F(f"{through}owner_id") if owner is None else Value(owner)
        super().__init__(whose, *(F(f"{through}{name}") for name in COLUMNS))
        self.now = now
        self.kinds = tuple(kinds)

    def as_sql(self, compiler: Any, connection: Any, **_: Any) -> tuple[str, list[Any]]:  # noqa: ARG002  # Django's signature
        (owner, of_owner), *rest = [compiler.compile(source) for source in self.get_source_expressions()]
        columns = dict(zip(COLUMNS, (sql for sql, _ in rest), strict=True))
        condition = OVER.format(owner=owner, past=past(self.kinds, columns), hold=HOLD.format(**columns))
        return condition, [*of_owner, *(self.now for _ in self.kinds)]
