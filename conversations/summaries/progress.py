"""How it goes with the writing: whether a model is at it, and when one that failed is asked again."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from django.core.cache import cache
from django.db.models import Max, Q, Subquery, Value
from django.db.models.functions import Coalesce

from conversations.models import Conversation, ModelCall, Summary, Turn
from conversations.providers.errors import GAVE_WAY
from conversations.summaries.writing import LINE_FAULT

MOST_REST = 64
"""Turns after which a model that failed again and again is asked once more."""
MOST_COUNTED = 20
"""Attempts that are looked at: seven failures among them make it rest as long as it ever does."""


NEVER = datetime.min.replace(tzinfo=UTC)

State = Literal["idle", "being_written", "gave_way", "failed"]


@dataclass(frozen=True, slots=True)
class Progress:
    """What is so of the next version."""

    state: State
    """`gave_way`, `failed`: how the last attempt ended, if no version was written since. To have made way for a reply
    is no failure."""
    turns_to_wait: int = 0
    """That have to end before a model is asked again; 0: it is asked as soon as there is something to ask."""


def lease_of(conversation_id: UUID) -> str:
    """What is in the cache while a model is at it."""
    return f"rolling:{conversation_id}"


def progress_of(conversation: Conversation) -> Progress:
    """A query, two after a failure; their cost does not grow with the conversation."""
    attempts = _in_vain(conversation)
    state: State = "idle"
    if cache.get(lease_of(conversation.pk)) is not None:
        state = "being_written"
    elif attempts:
        state = "gave_way" if attempts[0][1] == GAVE_WAY else "failed"
    return Progress(state, _turns_to_wait(conversation, [at for at, outcome in attempts if outcome != GAVE_WAY]))


def _in_vain(conversation: Conversation) -> list[tuple[datetime, str]]:
    """When the attempts since the newest version by a model ended, newest first, and how."""
    written = Summary.objects.filter(conversation=conversation, source=Summary.Source.MODEL)
    last_good = written.order_by().values("conversation").annotate(last=Max("created_at")).values("last")
    calls = ModelCall.objects.filter(conversation=conversation, purpose=ModelCall.Purpose.SUMMARY)
    since = calls.filter(created_at__gt=Coalesce(Subquery(last_good), Value(NEVER)))
    in_vain = since.exclude(Q(outcome="ok") | Q(outcome__startswith=LINE_FAULT))
    return list(in_vain.order_by("-created_at").values_list("created_at", "outcome")[:MOST_COUNTED])


def _turns_to_wait(conversation: Conversation, failures: list[datetime]) -> int:
    """After each failure the turns to wait for double."""
    if not failures:
        return 0
    ended = Turn.objects.filter(conversation=conversation, finished_at__gt=failures[0])
    since = len(ended.order_by("-finished_at").values_list("pk")[:MOST_REST])
    doubled: int = 2 ** (len(failures) - 1)
    return max(min(doubled, MOST_REST) - since, 0)
