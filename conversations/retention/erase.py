"""The road that every deletion takes: rows and receipt in one transaction, then whatever else carries their ids."""

import functools
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

import structlog
from django.db import OperationalError, transaction
from django.utils import timezone

from accounts.models import User
from conversations.models import Erasure, Turn
from conversations.retention import looks, rows
from conversations.retention.holds import refuse_when_held
from conversations.retention.manifest import QUICK

P = ParamSpec("P")
R = TypeVar("R")

log = structlog.get_logger(__name__)

Reason = Erasure.Reason

TRIES = 4
"""Of a transaction that met somebody else's: the index is written without holding the conversation."""
RESUMED_AFTER = timedelta(minutes=5)
"""An erasure in steps that has not got on for so long was killed."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an erasure left behind: a row for each of its transactions, none when there was nothing to erase."""

    erasures: tuple[Erasure, ...] = ()

    @property
    def conversations(self) -> int:
        return sum(len(one.conversations) for one in self.erasures)


def erase_conversations(ids: Collection[UUID], *, reason: Reason, by: User | None, now: datetime) -> Receipt:
    """Erase conversations, live replies and all, from every store. Safe to run twice, and to be killed.

    Rows, events and notes are gone when this returns; what is left, and the reading back, is a worker's, which
    looks after every receipt that is not yet verified.

    Raises:
        Held: nothing of the transaction that met a hold was erased. Those before it were.
        OperationalError: somebody else holds a row, and went on holding it.
    """
    return Receipt(tuple(erased(ids, Cause(reason, by.pk if by else None, now))))


@dataclass(frozen=True, slots=True)
class Cause:
    """What the receipts of an erasure have in common."""

    reason: Reason
    by: int | None
    now: datetime
    part_of: Erasure | None = None

    @classmethod
    def of(cls, erasure: Erasure, *, now: datetime) -> "Cause":
        """Of its parts."""
        return cls(Reason(erasure.reason), erasure.by, now, part_of=erasure)

    def receipt(self, **named: Any) -> Erasure:
        """Not yet stored; a worker looks at it at once."""
        fields = {"began_at": self.now, "erased_at": self.now, "next_look_at": self.now, "part_of": self.part_of}
        return Erasure(reason=self.reason, by=self.by, **fields | named)


def erased(ids: Collection[UUID], cause: Cause) -> list[Erasure]:
    """The receipts. Raises as `erase_conversations` does."""
    made: list[Erasure] = []
    for batch in rows.batches(rows.sizes(ids)):
        if len(batch) == 1 and rows.is_large(batch[0]):
            made += resumed(_begun(batch[0], cause), now=cause.now)
        else:
            made += _together(batch, cause)
    return made


def insistent(erase: Callable[P, R]) -> Callable[P, R]:
    """Try a transaction again that was in somebody's way, or found somebody in its own."""

    @functools.wraps(erase)
    def insisted(*args: P.args, **kwargs: P.kwargs) -> R:
        for _ in range(TRIES - 1):
            try:
                return erase(*args, **kwargs)
            except OperationalError as error:
                if transaction.get_connection().in_atomic_block:
                    raise
                log.info("erasure_met_somebody", error=type(error.__cause__).__name__)
        return erase(*args, **kwargs)

    return insisted


def _together(batch: list[UUID], cause: Cause) -> list[Erasure]:
    erasure, live = _deleted(batch, cause)
    if not erasure.conversations:
        return []  # Somebody else was faster.
    looks.follow(erasure, QUICK, live=live)
    return [erasure]


@insistent
def _deleted(batch: list[UUID], cause: Cause) -> tuple[Erasure, list[UUID]]:
    """The receipt, and the turns whose workers may still write; it is stored if it names anything."""
    with transaction.atomic():
        there, live = _held_for_deletion(batch)
        erasure = cause.receipt(conversations=there, turns=rows.turns_of(there), counts=rows.counted(there))
        if there:
            rows.delete(there)
            erasure.save(force_insert=True)
    return erasure, live


def _held_for_deletion(ids: Collection[UUID]) -> tuple[list[UUID], list[UUID]]:
    """The conversations that are there, by this transaction until it ends; and their live turns."""
    rows.wait_briefly()
    there = rows.locked(ids)
    refuse_when_held(there)
    live = Turn.objects.live().filter(conversation__in=there)
    return there, list(live.values_list("pk", flat=True))


@insistent
def _begun(conversation_id: UUID, cause: Cause) -> Erasure:
    """A receipt that says what is to be erased, before anything is: whoever is killed is followed by another."""
    with transaction.atomic():
        _held_for_deletion([conversation_id])
        unfinished = {"erased_at": None, "next_look_at": cause.now + RESUMED_AFTER}
        erasure = cause.receipt(conversations=[conversation_id], **unfinished)
        erasure.save(force_insert=True)
    return erasure


def resumed(erasure: Erasure, *, now: datetime) -> list[Erasure]:
    """Erase a large conversation in steps, from where somebody was killed.

    Each has a receipt of its own, for its turns; that of the conversation is complete with the last. Raises as
    `erase_conversations` does.
    """
    steps: list[Erasure] = []
    cause = Cause.of(erasure, now=now)
    while any(map(rows.is_large, erasure.conversations)):
        step, live = _step(erasure.conversations[0], cause)
        go_on(erasure)
        looks.follow(step, QUICK, live=live)
        steps.append(step)
    if (still_live := _last_step(erasure, now=now)) is None:
        return steps
    looks.follow(erasure, QUICK, live=still_live)
    return [*steps, erasure]


def is_mine(erasure: Erasure) -> bool:
    """In a transaction: whether it is still to be done. Whoever took it for killed may have done it meanwhile."""
    return Erasure.objects.select_for_update().filter(pk=erasure.pk, erased_at__isnull=True).exists()


def go_on(erasure: Erasure) -> None:
    """Say that somebody is at it, so that nobody takes it for killed."""
    until = timezone.now() + RESUMED_AFTER
    Erasure.objects.filter(pk=erasure.pk, erased_at__isnull=True).update(next_look_at=until)


@insistent
def _step(conversation_id: UUID, cause: Cause) -> tuple[Erasure, list[UUID]]:
    """The newest messages; the conversation is out of sight, and its reply ended, before the first step."""
    with transaction.atomic():
        _held_for_deletion([conversation_id])
        live = rows.hide(conversation_id, now=cause.now)
        messages = rows.newest(conversation_id)
        turns = list(Turn.objects.filter(prompt__in=messages).values_list("pk", flat=True))
        erasure = cause.receipt(turns=turns, counts={"message": messages.count(), "turn": len(turns)})
        messages.delete()
        erasure.save(force_insert=True)
    return erasure, live


@insistent
def _last_step(erasure: Erasure, *, now: datetime) -> list[UUID] | None:
    """None: somebody else was faster."""
    with transaction.atomic():
        there, live = _held_for_deletion(erasure.conversations)
        if not is_mine(erasure):
            return None
        erasure.turns, erasure.counts = rows.turns_of(there), rows.counted(there)
        erasure.erased_at = erasure.next_look_at = now
        rows.delete(there)
        erasure.save()
    return live
