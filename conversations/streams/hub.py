"""The reader of all the streams that the viewers of one web process watch."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

import structlog
from redis.exceptions import RedisError

from conversations.streams.events import BRIEFLY, START, Entry, entry, position, stream_key
from conversations.streams.wire import Wire, connected

log = structlog.get_logger(__name__)

READ_COUNT = 500
BLOCK_MS = 5000
REDIS_PAUSE = 0.5
"""Seconds before a failed Redis is tried again."""
WAKE_LIFE = 60
"""Seconds a note to the reader may wait for it."""


class Hub:
    """All viewers of one process on one Redis connection: a single blocking read over the streams they watch."""

    def __init__(self) -> None:
        self._redis = connected()
        self._wire = Wire()
        self._viewers: dict[str, set[asyncio.Queue[list[Entry]]]] = defaultdict(set)
        self._cursors: dict[str, str] = {}
        self._wake_key = f"pocketchat:wake:{uuid4()}"
        self._reader: asyncio.Task[None] | None = None

    async def tail(self, turn_id: UUID, *, after: str, tick: float) -> AsyncGenerator[list[Entry], None]:
        """Yield the events after the id `after`, in order, without a gap or a repeat, for ever.

        An empty list means that `tick` seconds passed without any.
        """
        key = stream_key(turn_id)
        queue: asyncio.Queue[list[Entry]] = asyncio.Queue()
        self._viewers[key].add(queue)
        try:
            last = after
            # Watched before the past is read: what comes in between arrives twice, and is passed over once.
            await self._watch(key, after)
            if backlog := await self._after(key, after):
                last = backlog[-1].id
                yield backlog
            while True:
                entries = await _within(tick, queue)
                fresh = [one for one in entries if one.position > position(last)]
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
        """Nothing when Redis does not say so briefly: the reader brings it as soon as it can."""
        try:
            async with asyncio.timeout(BRIEFLY):
                backlog = await self._wire.run("XRANGE", key, f"({after}", "+")
            return [entry(*raw) for raw in backlog]
        except (RedisError, TimeoutError):
            return []

    async def _watch(self, key: str, after: str) -> None:
        """Have the reader read `key` from `after` on, or from earlier; it is woken from its wait for the others."""
        watched = self._cursors.get(key)
        if watched is None or position(after) < position(watched):
            self._cursors[key] = after
            with suppress(RedisError, TimeoutError):
                async with asyncio.timeout(BRIEFLY):
                    await self._wire.run("XADD", self._wake_key, "MAXLEN", 1, "*", "watch", "more")
                    await self._wire.run("EXPIRE", self._wake_key, WAKE_LIFE)
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
                entries = [entry(*raw) for raw in raw_entries]
                if key == self._wake_key:
                    woken = entries[-1].id
                elif self._cursors.get(key) == streams[key]:  # Otherwise somebody came who needs earlier ones first.
                    self._cursors[key] = entries[-1].id
                    for queue in self._viewers[key]:
                        queue.put_nowait(entries)


_hubs: dict[asyncio.AbstractEventLoop, Hub] = {}


def hub() -> Hub:
    """The hub of the running event loop; a web process has one loop, so it has one hub."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub()
    return _hubs[loop]


async def _within(seconds: float, queue: asyncio.Queue[list[Entry]]) -> list[Entry]:
    try:
        async with asyncio.timeout(seconds):
            return await queue.get()
    except TimeoutError:
        return []
