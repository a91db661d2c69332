"""The events of a turn: a Redis stream that one worker writes and any number of viewers read.

The stream is a copy for speed, never the truth: rows are. When Redis is down or was emptied the reply goes on,
and viewers get the whole text again as a `snapshot`.

Events: `status` {"status"}, `delta` {"text"} to append, `snapshot` {"text"} to replace everything shown so far,
`done` {"status"}, with the whole "text" when it comes from the stored reply.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import structlog
from django.conf import settings
from redis import Redis
from redis import asyncio as aioredis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)

LONGEST_REPLY = 3600
"""Seconds the events of a live turn are kept; far longer than any reply takes."""
COALESCE = 0.02
"""Seconds between two writes of one reply; deltas that come faster are joined."""
REDIS_PAUSE = 0.5
"""Seconds before a failed Redis is tried again."""
READ_COUNT = 500
BLOCK_MS = 5000
SOCKET_TIMEOUT = 10.0
"""Seconds; longer than the longest wait for news."""

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


def connected() -> "aioredis.Redis":
    """A client for the running loop. It never repeats a command by itself: a repeated append is a doubled word."""
    return aioredis.Redis.from_url(
        settings.REDIS_URL, protocol=2, socket_timeout=SOCKET_TIMEOUT, retry=Retry(NoBackoff(), 0)
    )


def announce_end(turn_id: UUID, status: str) -> None:
    """Tell the viewers of a turn that was ended by somebody else than the worker who streamed it."""
    with suppress(RedisError), Redis.from_url(settings.REDIS_URL) as redis:
        redis.xadd(stream_key(turn_id), _fields("done", status=status))
        redis.expire(stream_key(turn_id), settings.POCKETCHAT_STREAM_LIFE)


class Publisher:
    """Writes the events of one turn. Nothing here fails the reply, and nothing waits for Redis but `close`."""

    def __init__(self, redis: "aioredis.Redis", turn_id: UUID) -> None:
        self._redis = redis
        self._key = stream_key(turn_id)
        self._whole = ""
        self._written = 0
        self._is_certain = False
        """The stream is known to hold exactly what was written; a delta may follow."""
        self._is_closing = False
        self._news = asyncio.Event()
        self._writer = asyncio.create_task(self._write_news())

    def push(self, text: str) -> None:
        """Append to the answer; viewers see it within a few hundredths of a second."""
        self._whole += text
        self._news.set()

    async def close(self, status: str) -> None:
        """Write what is left and the end."""
        # Not cancelled: a write under way must be known to have happened, or its words would come twice.
        self._is_closing = True
        self._news.set()
        await self._writer
        try:
            await self._write()
            await self._redis.xadd(self._key, _fields("done", status=status))
            await self._redis.expire(self._key, settings.POCKETCHAT_STREAM_LIFE)
        except RedisError as error:
            log.warning("stream_not_closed", key=self._key, error=type(error).__name__)

    async def _write_news(self) -> None:
        while not self._is_closing:
            await self._news.wait()
            self._news.clear()
            try:
                await self._write()
            except RedisError as error:
                log.warning("stream_not_written", key=self._key, error=type(error).__name__)
                self._is_certain = False
                self._news.set()
                await asyncio.sleep(REDIS_PAUSE)
            await asyncio.sleep(COALESCE)

    async def _write(self) -> None:
        end = len(self._whole)
        if end == self._written:
            return
        if self._is_certain:
            delta = _fields("delta", text=self._whole[self._written : end])
            # Only onto the stream we began: one that vanished is begun again, with the whole text.
            self._is_certain = bool(await self._redis.xadd(self._key, delta, nomkstream=True))
        if not self._is_certain:
            await self._redis.xadd(self._key, _fields("snapshot", text=self._whole[:end]))
            await self._redis.expire(self._key, LONGEST_REPLY)
            self._is_certain = True
        self._written = end


class Hub:
    """All viewers of one process on one Redis connection: a single blocking read over the streams they watch."""

    def __init__(self) -> None:
        self._redis = connected()
        self._viewers: dict[str, set[asyncio.Queue[list[Entry]]]] = defaultdict(set)
        self._cursors: dict[str, str] = {}
        self._wake_key = f"pocketchat:wake:{uuid4()}"
        self._reader: asyncio.Task[None] | None = None

    async def tail(self, turn_id: UUID, *, after: str, tick: float) -> AsyncIterator[list[Entry]]:
        """Yield the events after the id `after`, in order, without a gap or a repeat, for ever.

        An empty list means that `tick` seconds passed without any.
        """
        key = stream_key(turn_id)
        queue: asyncio.Queue[list[Entry]] = asyncio.Queue()
        self._viewers[key].add(queue)
        try:
            last = after
            if backlog := await self._after(key, after):
                last = backlog[-1].id
                yield backlog
            await self._watch(key, last)
            while True:
                entries = await _within(tick, queue)
                fresh = [entry for entry in entries if entry.position > position(last)]
                if fresh:
                    last = fresh[-1].id
                if fresh or not entries:
                    yield fresh
        finally:
            self._forget(key, queue)

    async def holds_end(self, turn_id: UUID, *, after: str) -> bool:
        """Whether the events after the id `after` are here up to the end of the turn."""
        entries = await self._after(stream_key(turn_id), after)
        return bool(entries) and entries[-1].event == "done"

    async def _after(self, key: str, after: str) -> list[Entry]:
        try:
            backlog: list[Any] = await self._redis.xrange(key, min=f"({after}")  # type: ignore[assignment]  # RESP2
            return [_entry(*raw) for raw in backlog]
        except RedisError:
            return []

    async def _watch(self, key: str, last: str) -> None:
        """Have the reader read `key` too; it is woken from its wait for the others."""
        if key not in self._cursors:
            self._cursors[key] = last
            with suppress(RedisError):
                await self._redis.xadd(self._wake_key, {"watch": "more"}, maxlen=1)
                await self._redis.expire(self._wake_key, 60)
        if self._reader is None or self._reader.done():
            self._reader = asyncio.create_task(self._read())

    def _forget(self, key: str, queue: asyncio.Queue[list[Entry]]) -> None:
        self._viewers[key].discard(queue)
        if not self._viewers[key]:
            del self._viewers[key]
            self._cursors.pop(key, None)

    async def _read(self) -> None:
        woken = START
        while self._cursors:
            try:
                streams: dict[Any, Any] = {self._wake_key: woken, **self._cursors}
                answer: Any = await self._redis.xread(streams, count=READ_COUNT, block=BLOCK_MS)
            except RedisError as error:
                log.warning("streams_not_read", error=type(error).__name__)
                await asyncio.sleep(REDIS_PAUSE)
                continue
            for raw_key, raw_entries in answer or []:
                key = raw_key.decode()
                entries = [_entry(*raw) for raw in raw_entries]
                if key == self._wake_key:
                    woken = entries[-1].id
                elif key in self._cursors:
                    self._cursors[key] = entries[-1].id
                    for queue in self._viewers[key]:
                        queue.put_nowait(entries)


_hubs: dict[asyncio.AbstractEventLoop, Hub] = {}


def hub() -> Hub:
    """The hub of the running event loop; a web process has one loop, so it has one hub."""
    return _hubs.setdefault(asyncio.get_running_loop(), Hub())


async def _within(seconds: float, queue: asyncio.Queue[list[Entry]]) -> list[Entry]:
    try:
        async with asyncio.timeout(seconds):
            return await queue.get()
    except TimeoutError:
        return []


def _entry(entry_id: bytes, fields: dict[bytes, bytes]) -> Entry:
    return Entry(entry_id.decode(), fields.get(b"event", b"").decode(), fields.get(b"data", b"").decode())


def _fields(event: str, **data: str) -> dict[Any, Any]:
    return {"event": event, "data": json.dumps(data)}
