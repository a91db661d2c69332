"""What stands in a stream, and where."""

import json
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

START = "0-0"


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
    return int(milliseconds), int(count)


def stream_key(turn_id: UUID) -> str:
    return f"pocketchat:events:{turn_id}"


def fields(event: str, **data: str) -> tuple[str, str, str, str]:
    """An event as XADD takes it."""
    return ("event", event, "data", json.dumps(data))


def entry(entry_id: bytes, stored: dict[bytes, bytes]) -> Entry:
    return Entry(entry_id.decode(), stored.get(b"event", b"").decode(), stored.get(b"data", b"").decode())


def announce_end(turn_id: UUID, status: str) -> None:
    """Tell the viewers of a turn that was ended by somebody else than the worker who streamed it."""
    key = stream_key(turn_id)
    with suppress(RedisError), Redis.from_url(settings.REDIS_URL) as redis:
        redis.execute_command("XADD", key, "*", *fields("done", status=status))
        redis.expire(key, settings.POCKETCHAT_STREAM_LIFE)
