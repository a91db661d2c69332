"""After the rows: the other stores are erased, all are read back, and the receipt says what was found."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from redis.exceptions import RedisError

from conversations.models import Erasure
from conversations.retention.ids import Ids
from conversations.retention.stores import Store, TakesMany
from conversations.streams import seal

log = structlog.get_logger(__name__)

SECOND_LOOK = timedelta(minutes=2)
"""After an erasure its stores are read once more: whoever was in the middle of something then has ended by now."""
FIRST_PAUSE = timedelta(seconds=20)
LONGEST_PAUSE = timedelta(hours=1)
"""Before an erasure that could not be verified is tried again; each time the pause doubles."""


def follow(erasure: Erasure, stores: Sequence[Store], *, live: Collection[UUID]) -> None:
    """Erase what is quickly erased, right behind the rows. Nothing is verified yet; a failure is a worker's to mend."""
    try:
        for store in stores:
            _add(erasure, store.name, store.erase(Ids.of(erasure)))
        if live:
            seal(live)
    except RedisError as error:
        log.warning("erasure_not_followed", erasure=erasure.pk, error=type(error).__name__)
    erasure.save(update_fields=["counts"])


def look(erasures: Sequence[Erasure], stores: Iterable[Store], *, now: datetime) -> int:
    """Erase what is left in every store, read all of them back, and write down what was found; returns how many
    receipts are not clean. No store that fails keeps the others from being erased."""
    many = [Ids.of(erasure) for erasure in erasures]
    found: list[dict[str, int | str]] = [{} for _ in erasures]
    left: Sequence[int | str]
    for store in stores:
        try:
            erased, left = erase_each(store, many), find_each(store, many)
        except Exception as fault:  # noqa: BLE001  # whatever a place does wrong, the receipt says so
            log.warning("store_not_erased", store=store.name, error=type(fault).__name__)
            erased, left = [0] * len(many), [type(fault).__name__] * len(many)
        for erasure, its, count, still in zip(erasures, found, erased, left, strict=True):
            _add(erasure, store.name, count)
            its.update({store.name: still} if still else {})
    for erasure, its in zip(erasures, found, strict=True):
        _conclude(erasure, its, now=now)
    fields = ["counts", "left", "looks", "verified_at", "next_look_at"]
    Erasure.objects.bulk_update(erasures, fields)
    return sum(1 for its in found if its)


def _conclude(erasure: Erasure, left: dict[str, int | str], *, now: datetime) -> None:
    erasure.left, erasure.looks = left, erasure.looks + 1
    assert erasure.erased_at is not None
    second = erasure.erased_at + SECOND_LOOK
    if left:
        erasure.verified_at = None
        erasure.next_look_at = now + min(FIRST_PAUSE * 2 ** min(erasure.looks - 1, 10), LONGEST_PAUSE)
    else:
        erasure.verified_at = now
        erasure.next_look_at = None if now >= second else second


def _add(erasure: Erasure, name: str, count: int) -> None:
    """To what the receipt says was erased there. Rows are counted by table when they go."""
    if count:
        erasure.counts[name] = erasure.counts.get(name, 0) + count


def erase_each(store: Store, many: Sequence[Ids]) -> list[int]:
    return store.erase_each(many) if isinstance(store, TakesMany) else [store.erase(ids) for ids in many]


def find_each(store: Store, many: Sequence[Ids]) -> list[int]:
    return store.find_each(many) if isinstance(store, TakesMany) else [store.find(ids) for ids in many]
