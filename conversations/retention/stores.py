"""What a store of the manifest is, and those of them in Redis that need no more than the names of their keys."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Protocol, runtime_checkable
from uuid import UUID

from django.core.cache import cache
from redis import Redis

from conversations.retention.ids import Ids
from conversations.streams import LAST_ID, briefly_connected, requeued_key, stream_key

STREAM_KEYS = stream_key("*")
TOGETHER = 1000
"""Keys of one command."""


class Store(Protocol):
    """A place that holds something of a conversation. Both may raise whatever their place does: then nobody knows."""

    @property
    def name(self) -> str: ...

    def erase(self, ids: Ids) -> int:
        """Take away what there is of them; returns how many rows, keys, messages, lines. Safe to run twice."""
        ...

    def find(self, ids: Ids) -> int:
        """How many are there now."""
        ...


@runtime_checkable
class TakesMany(Protocol):
    """One that reads everything it has to find anything, and is asked for several erasures at once."""

    def erase_each(self, many: Sequence[Ids]) -> list[int]: ...

    def find_each(self, many: Sequence[Ids]) -> list[int]: ...


class Streams:
    """Events of replies, as long as Redis has them. The seal on the stream of an erased turn says nothing."""

    name = "streams"

    def erase(self, ids: Ids) -> int:
        with briefly_connected() as redis:
            return sum(redis.unlink(*keys) for keys in _in_parts(_unsealed(redis, ids.turns)))

    def find(self, ids: Ids) -> int:
        with briefly_connected() as redis:
            return sum(1 for _ in _unsealed(redis, ids.turns))


def scanned(pattern: str) -> Iterator[UUID]:
    """The ids at the end of all keys of a pattern, a few at a time."""
    with briefly_connected() as redis:
        for key in redis.scan_iter(match=pattern, count=TOGETHER):
            yield UUID(key.decode()[-36:])


def _unsealed(redis: Redis, turns: Iterable[UUID]) -> Iterator[str]:
    for keys in _in_parts(map(stream_key, turns)):
        if not redis.exists(*keys):
            continue
        with redis.pipeline(transaction=False) as together:
            for key in keys:
                together.xrevrange(key, count=1)
            newest: list[Any] = together.execute()
        yield from (key for key, entries in zip(keys, newest, strict=True) if entries and not _is_seal(entries[0][0]))


def _is_seal(entry_id: bytes) -> bool:
    return entry_id.decode() == LAST_ID


class Notes:
    """What processes tell each other of a turn, a conversation or a person, for a minute or two."""

    name = "notes"

    def erase(self, ids: Ids) -> int:
        with briefly_connected() as redis:
            return sum(redis.unlink(*keys) for keys in _in_parts(_noted(ids)))

    def find(self, ids: Ids) -> int:
        with briefly_connected() as redis:
            return sum(redis.exists(*keys) for keys in _in_parts(_noted(ids)))


def _noted(ids: Ids) -> Iterator[str]:
    yield from map(requeued_key, ids.turns)
    yield from (cache.make_key(f"rolling:{pk}") for pk in ids.conversations)
    for what in ("suggestions", "recalls", "closing", "files", "exports", "imports"):
        yield from (cache.make_key(f"pace:{what}:{pk}") for pk in ids.accounts)


def _in_parts(keys: Iterable[str]) -> Iterator[list[str]]:
    left = iter(keys)
    while part := list(islice(left, TOGETHER)):
        yield part
