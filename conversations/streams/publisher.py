"""The writer of one turn's events."""

import asyncio
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from redis.exceptions import RedisError

from conversations.streams.events import fields, is_sealed, stream_key
from conversations.streams.story import Story
from conversations.streams.wire import Wire

log = structlog.get_logger(__name__)

LONGEST_REPLY = 3600
"""Seconds the events of a live turn are kept; far longer than any reply takes."""
COALESCE = 0.02
"""Seconds between two writes of one reply at least; deltas that come faster are joined."""
WRITES = 2000
"""A second, of all replies of one process: where more of them are written than that allows, each joins more."""
REDIS_PAUSE = 0.5
"""Seconds before a failed Redis is tried again."""


class Publisher:
    """Writes the events of one turn. Nothing here fails the reply, and nothing waits for Redis but `close`."""

    def __init__(self, wire: Wire, turn_id: UUID) -> None:
        self._wire = wire
        wire.writers += 1
        self._key = stream_key(turn_id)
        self._story = Story()
        self._is_certain = False
        """The stream is known to hold exactly what was written; more may follow."""
        self._is_closing = False
        self._is_sealed = False
        """The turn was erased: nothing more is written, and nothing logged of it."""
        self._news = asyncio.Event()
        self._writer = asyncio.create_task(self._write_news())

    @property
    def writers(self) -> int:
        """Replies that this process is writing."""
        return self._wire.writers

    def push(self, text: str) -> None:
        """Append to the answer; viewers see it within a few hundredths of a second."""
        self._story.say(text)
        self._news.set()

    def tell(self, call: dict[str, Any]) -> None:
        """A call of a tool, known by its `id`: that it runs, and later what came of it."""
        self._story.tell(call)
        self._news.set()

    async def close(self, status: str | None) -> None:
        """Write what is left, and the end; None: somebody else announces the end, or nobody knows it yet."""
        # Not cancelled: a write under way must be known to have happened, or its words would come twice.
        self._is_closing = True
        self._news.set()
        await self._writer
        self._wire.writers -= 1
        try:
            await self._write()
            if status is None or self._is_sealed:
                return
            # A stream that vanished after the last word is begun again with all of them, or the end would stand alone.
            if self._is_certain:
                done = fields("done", status=status)
                self._is_certain = bool(await self._append("NOMKSTREAM", done, life=settings.POCKETCHAT_STREAM_LIFE))
            if not self._is_certain:
                done = fields("done", status=status, text=self._story.text)
                await self._append("", done, life=settings.POCKETCHAT_STREAM_LIFE)
        except RedisError as error:
            if not is_sealed(error):
                log.warning("stream_not_closed", key=self._key, error=type(error).__name__)

    async def _write_news(self) -> None:
        while not self._is_closing:
            await self._news.wait()
            self._news.clear()
            try:
                await self._write()
            except RedisError as error:
                if is_sealed(error):
                    self._is_sealed = True
                    return
                log.warning("stream_not_written", key=self._key, error=type(error).__name__)
                self._is_certain = False
                self._news.set()
                await asyncio.sleep(REDIS_PAUSE)
            await asyncio.sleep(max(COALESCE, self._wire.writers / WRITES))

    async def _write(self) -> None:
        """Write the news; from the beginning when it is not certain that the stream holds what came before."""
        if self._is_sealed or not self._story.has_news:
            return
        if self._is_certain:
            news = [("XADD", self._key, "NOMKSTREAM", "*", *event) for event in self._story.news()]
            # Only onto the stream we began: one that vanished is begun again, with everything.
            self._is_certain = all(await self._wire.run_together(*news))
        if not self._is_certain:
            await self._append("", *self._story.whole(), life=LONGEST_REPLY)
            self._is_certain = True
        self._story.was_written()

    async def _append(self, option: str, *events: tuple[str, ...], life: int) -> object:
        """Events and life travel together: words must not stay for ever because Redis hung between the two."""
        options = (option,) if option else ()
        adds = [("XADD", self._key, *options, "*", *event) for event in events]
        answers = await self._wire.run_together(*adds, ("EXPIRE", self._key, life))
        added: object = answers[0]
        return added
