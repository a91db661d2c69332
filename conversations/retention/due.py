"""What is over and goes: the one question that preview and purge ask, and that a rule's effect is measured with."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.expressions import RawSQL

from conversations.expiry import COLUMNS, HOLD, Kind, past
from conversations.models import Conversation, Hold, ModelCall, RetentionRule
from conversations.querysets import ConversationQuerySet

COLUMNS_OF_C = {name: f"c.{name}" for name in COLUMNS}
HELD = f"life.is_held OR {HOLD.format(**COLUMNS_OF_C)}"
BESIDE = f"NOT ({HELD}) AND c.id <> ALL(%s::uuid[])"
"""Takes the ids of those that are left out."""


def due(now: datetime, *, kinds: Collection[Kind] = tuple(Kind)) -> ConversationQuerySet:
    """Conversations that are over at `now` for any of the reasons, under the rules as this transaction sees them."""
    return _rows(*_over(kinds, now, f"NOT ({HELD})"))


def also_due(now: datetime, *, beside: Collection[UUID]) -> ConversationQuerySet:
    """The same without those that are known to be over."""
    sql, params = _over(tuple(Kind), now, BESIDE)
    return _rows(sql, [*params, list(beside)])


def spared(now: datetime) -> ConversationQuerySet:
    """Conversations that would be due, were they not held."""
    return _rows(*_over(tuple(Kind), now, HELD))


def taken(kind: Kind, now: datetime, *, without: Collection[UUID], most: int) -> list[UUID]:
    """Some that are due, held for this transaction, but for those in which somebody is writing at this moment."""
    sql, params = _over([kind], now, BESIDE, lock="FOR UPDATE OF c SKIP LOCKED")
    with connection.cursor() as cursor:
        cursor.execute(f"{sql} LIMIT %s", [*params, list(without), most])
        return [pk for (pk,) in cursor.fetchall()]


def _over(kinds: Collection[Kind], now: datetime, condition: str, *, lock: str = "") -> tuple[str, list[Any]]:
    """A life at a time, so that the index of the kind finds what is past it: `OFFSET 0` keeps PostgreSQL from looking
    through everybody's conversations at once."""
    sql = (
        "WITH life AS MATERIALIZED (SELECT * FROM conversations_effectivelife) "  # noqa: S608  # texts of ours
        "SELECT over.id FROM life CROSS JOIN LATERAL ("
        "SELECT c.id FROM conversations_conversation AS c WHERE c.owner_id = life.user_id "
        f"AND ({past(kinds, COLUMNS_OF_C)}) AND ({condition}) OFFSET 0 {lock}) AS over"
    )
    return sql, [now for _ in kinds]


def _rows(sql: str, params: list[Any]) -> ConversationQuerySet:
    """Found once, and not again for each row that is compared with them, as a planner may that knows old figures."""
    sql = f"WITH over AS MATERIALIZED ({sql}) SELECT id FROM over"  # noqa: S608  # texts of ours
    return Conversation.objects.filter(pk__in=RawSQL(sql, params))  # noqa: S611  # its values are parameters


def traces_due(now: datetime) -> QuerySet[ModelCall]:
    """Traces past their life, but of what is held."""
    days = RetentionRule.objects.filter(scope=RetentionRule.Scope.EVERYONE).values_list("trace_days", flat=True).first()
    if days is None:
        return ModelCall.objects.none()
    on_it = Q(conversation=OuterRef("conversation")) | Q(user=OuterRef("conversation__owner"))
    past_it: QuerySet[ModelCall] = ModelCall.objects.filter(created_at__lte=now - timedelta(days=days))
    return past_it.filter(~Exists(Hold.objects.lasting().filter(on_it)))
