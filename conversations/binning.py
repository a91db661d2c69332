"""The bin: what its owner has deleted is hidden from every reader at once, and can be taken out again for a while."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from conversations import turns
from conversations.models import Conversation, Turn
from conversations.streams import Shown

BATCH = 200
"""Conversations that are held at the same time: who asks in one of them waits for so many, not for ten thousand."""


@dataclass(frozen=True, slots=True)
class Binned:
    """The conversations that went into the bin, and the live turns that ended with it."""

    ids: tuple[UUID, ...] = ()
    stopped: tuple[UUID, ...] = ()


def put(conversation: Conversation, now: datetime) -> Binned:
    """Put one into the bin; see `put_all`."""
    return put_all([conversation.pk], now=now)


def put_all(ids: Collection[UUID], *, now: datetime, shown: Callable[[UUID], Shown] = lambda _: Shown()) -> Binned:
    """Put conversations into the bin; those that are in it, or gone, stay as they are.

    A reply that is being written is stopped first. `shown` says what viewers of a turn have seen, which is kept.
    Safe to run twice, and in batches: what was done stays done when it breaks off.
    """
    ordered, binned = sorted(ids), Binned()
    for at in range(0, len(ordered), BATCH):
        some = _put(ordered[at : at + BATCH], now=now, shown=shown)
        binned = Binned(binned.ids + some.ids, binned.stopped + some.stopped)
    return binned


def take_out(conversation: Conversation) -> bool:
    """Take one out of the bin; False: it was not in it, or is gone."""
    return take_all_out([conversation.pk]) == 1


def take_all_out(ids: Collection[UUID]) -> int:
    """Take conversations out of the bin, to where they were in the list; returns how many were in it."""
    return Conversation.objects.filter(pk__in=ids, trashed_at__isnull=False).update(trashed_at=None)


def _put(ids: Collection[UUID], *, now: datetime, shown: Callable[[UUID], Shown]) -> Binned:
    live = Turn.objects.live().filter(conversation__in=ids)
    # Outside the transaction: this asks Redis.
    seen = {turn_id: shown(turn_id) for turn_id in live.values_list("pk", flat=True)}
    with transaction.atomic():
        # Whoever asks a question holds the conversation, too, so no turn begins between the two reads.
        rows = Conversation.objects.select_for_update().filter(pk__in=ids, trashed_at__isnull=True)
        held = list(rows.order_by("pk").values_list("pk", flat=True))
        running = list(live.filter(conversation__in=held))
        for turn in running:
            turns.end_for_worker(turn, Turn.Status.STOPPED, seen=seen.get(turn.pk, Shown()), now=now)
        Conversation.objects.filter(pk__in=held).update(trashed_at=now)
    return Binned(tuple(held), tuple(turn.pk for turn in running))
