"""What no erasure names and belongs to nothing: rows without a conversation, keys and tasks of turns that are none."""

from collections import Counter
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from conversations.models import Conversation, Turn
from conversations.retention import rows
from conversations.retention.ids import Ids
from conversations.retention.queued import QueuedTasks, ids_in_queues
from conversations.retention.stores import STREAM_KEYS, Streams, scanned

AT_ONCE = 1000


def found() -> Counter[str]:
    """How many there are, by table or store, without those that have none."""
    counts = Counter({f"rows of {model._meta.model_name}": _orphans_in(model) for model in rows.tables()})
    counts["streams"] = Streams().find(Ids(turns=frozenset(_unknown(scanned(STREAM_KEYS)))))
    unknown = frozenset(_unknown(ids_in_queues()))
    counts["queue"] = QueuedTasks().find(Ids(turns=unknown)) if unknown else 0
    return +counts


def _orphans_in(model: Any) -> int:
    """None, as long as the database keeps its references; a restore without them may leave some."""
    theirs = Conversation.objects.filter(pk=OuterRef("conversation_id"))
    named = model._default_manager.filter(conversation_id__isnull=False)
    return int(named.filter(~Exists(theirs)).count())


def _unknown(ids: Iterable[UUID]) -> list[UUID]:
    """Those that are neither a turn nor a conversation; whoever asks a table for many does so in parts."""
    seen = list(set(ids))
    unknown: list[UUID] = []
    for start in range(0, len(seen), AT_ONCE):
        part = seen[start : start + AT_ONCE]
        known = {
            *Turn.objects.filter(pk__in=part).values_list("pk", flat=True),
            *Conversation.objects.filter(pk__in=part).values_list("pk", flat=True),
        }
        unknown += [pk for pk in part if pk not in known]
    return unknown
