"""What stands in a stream, and where."""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError
from redis.retry import Retry

START = "0-0"
BRIEFLY = 1.0
"""Seconds somebody who has a person waiting waits for Redis."""
BETWEEN = "\n\n"
"""Stands between the words before a call and those after it, where both are told as one text."""
REQUEUE_EVERY = 30
"""Seconds."""
SEALED_SECONDS = 3600
"""As long as any reply may take."""
LAST_ID = f"{2**64 - 1}-{2**64 - 1}"
END_OF_IDS = 2**64
"""Redis refuses larger ones, and with them the whole read that they are part of."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One event as stored: its id grows along the stream, `data` is JSON."""

    id: str
    event: str
    data: str

    @property
    def position(self) -> tuple[int, int]:
        return position(self.id)


def position(entry_id: str) -> tuple[int, int]:
    """Where an id stands in its stream.

    Raises:
        ValueError: it is not the id of an event.
    """
    milliseconds, _, count = entry_id.partition("-")
    if not (milliseconds.isascii() and milliseconds.isdigit() and count.isascii() and count.isdigit()):
        raise ValueError("not the id of an event")
    if max(here := (int(milliseconds), int(count))) >= END_OF_IDS:
        raise ValueError("beyond the last possible id")
    return here


def stream_key(turn_id: UUID | str) -> str:
    return f"pocketchat:events:{turn_id}"


def requeued_key(turn_id: UUID) -> str:
    return f"pocketchat:requeued:{turn_id}"


def fields(event: str, **data: Any) -> tuple[str, str, str, str]:
    """An event as XADD takes it."""
    return ("event", event, "data", json.dumps(data))


def entry(entry_id: bytes, stored: dict[bytes, bytes]) -> Entry:
    return Entry(entry_id.decode(), stored.get(b"event", b"").decode(), stored.get(b"data", b"").decode())


@dataclass(frozen=True, slots=True)
class Shown:
    """What viewers of a turn have been sent: how many calls of tools, and the words after the last of them."""

    text: str = ""
    calls: int = 0


def shown(turn_id: UUID) -> Shown:
    """What viewers of a turn have been sent so far, up to its end; nothing when it is no longer known."""
    with suppress(RedisError), briefly_connected() as redis:
        stored: Any = redis.xrange(stream_key(turn_id))
        text, calls = "", set()
        for one in (entry(*raw) for raw in stored):
            data = json.loads(one.data)
            if one.event == "done":
                break
            if one.event == "tool":
                text = ""
                calls.add(data.get("id"))
            elif one.event == "snapshot":
                text, calls = data.get("text", ""), set()
            else:
                text += data.get("text", "")
        return Shown(text.removeprefix(BETWEEN) if calls else text, len(calls))
    return Shown()


def announce_end(turn_id: UUID, status: str) -> None:
    """Tell the viewers of a turn that was ended by somebody else than the worker who streamed it."""
    key = stream_key(turn_id)
    with suppress(RedisError), briefly_connected() as redis, redis.pipeline() as both:
        both.execute_command("XADD", key, "*", *fields("done", status=status))
        both.expire(key, settings.POCKETCHAT_STREAM_LIFE)
        both.execute()


def seal(turn_ids: Iterable[UUID]) -> None:
    """End the streams of erased turns for good: what they held is gone, and nobody can add to them any more.

    Their workers learn of the erasure within a heartbeat, and may write until then. An id that is the last one possible
    keeps Redis from taking another.

    Raises:
        RedisError: it is not known whether it happened.
    """
    with briefly_connected() as redis, redis.pipeline() as together:
        for turn_id in turn_ids:
            key = stream_key(turn_id)
            together.delete(key)
            together.execute_command("XADD", key, LAST_ID, *fields("done", status="stopped"))
            together.expire(key, SEALED_SECONDS)
        together.execute()


def is_sealed(error: Exception) -> bool:
    """Whether Redis refused an event because the turn was erased."""
    return isinstance(error, ResponseError) and "last possible ID" in str(error)


def may_requeue(turn_id: UUID) -> bool:
    """True once in a while for each turn: a task that waits in a long queue is not lost."""
    with suppress(RedisError), briefly_connected() as redis:
        return bool(redis.set(requeued_key(turn_id), 1, nx=True, ex=REQUEUE_EVERY))
    return False


def is_reachable() -> bool:
    """Whether Redis answers now. A refused connection says so at once, one that hangs within a second."""
    with suppress(RedisError), briefly_connected() as redis:
        return bool(redis.ping())
    return False


def briefly_connected() -> Redis:
    """Whoever asks has a person waiting or rows to see to: a Redis that hangs is as good as none."""
    return Redis.from_url(
        settings.REDIS_URL,
        protocol=2,
        socket_timeout=BRIEFLY,
        socket_connect_timeout=BRIEFLY,
        retry=Retry(NoBackoff(), 0),
    )
