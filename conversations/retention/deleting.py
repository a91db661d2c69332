"""What an owner deletes: into the bin first, or for good. What is held stays where it is."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.models import User
from conversations import binning, turns
from conversations.models import Erasure, Turn
from conversations.refusals import Held
from conversations.retention.erase import erase_conversations
from conversations.retention.holds import held
from conversations.retention.lives import life_of
from conversations.streams import shown


@dataclass(frozen=True, slots=True)
class Deleted:
    """The conversations that went, and those that have to be kept."""

    ids: tuple[UUID, ...]
    held: frozenset[UUID] = frozenset()
    is_for_good: bool = False


def bin_days(user: User) -> int:
    """How long what this person deletes stays in the bin; 0: it is gone at once."""
    days: int = life_of(user).in_bin.days
    return days


def delete(ids: Collection[UUID], *, by: User, now: datetime) -> Deleted:
    """Into the bin, where there is one; else for good. Raises as these two do."""
    return put_into_bin(ids, now=now) if bin_days(by) else delete_for_good(ids, by=by, now=now)


def put_into_bin(ids: Collection[UUID], *, now: datetime) -> Deleted:
    """Into the bin; the viewers of replies that are stopped by it learn of it at once.

    Raises:
        Held: all of them are held.
    """
    free = _free(ids)
    binned = binning.put_all(free.ids, now=now, shown=shown)
    for turn in Turn.objects.filter(pk__in=binned.stopped) if binned.stopped else ():
        turns.announce(turn, Turn.Status.STOPPED)
    return Deleted(binned.ids, free.held)


def delete_for_good(ids: Collection[UUID], *, by: User, now: datetime) -> Deleted:
    """At once, whether or not they are in the bin.

    Raises:
        Held: all of them are held.
        OperationalError: somebody else holds a row, and went on holding it.
    """
    free = _free(ids)
    receipt = erase_conversations(free.ids, reason=Erasure.Reason.OWNER, by=by, now=now)
    gone = {pk for erasure in receipt.erasures for pk in erasure.conversations}
    return Deleted(tuple(gone), free.held, is_for_good=True)


def _free(ids: Collection[UUID]) -> Deleted:
    kept = held(ids) if ids else set()
    if ids and kept.issuperset(ids):
        raise Held(kept)
    return Deleted(tuple(pk for pk in ids if pk not in kept), frozenset(kept))
