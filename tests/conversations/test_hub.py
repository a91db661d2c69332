"""The reader of the streams that a web process watches, where Redis is slow to answer."""

import asyncio
from contextlib import aclosing
from importlib import import_module
from uuid import uuid4

import pytest
from django.conf import settings
from redis import Redis

from conversations.streams import START, Hub, stream_key


async def closed(hub: Hub) -> None:
    """A web process never closes it; a test may leave nothing open."""
    if reader := hub._reader:
        reader.cancel()
        await asyncio.wait([reader])
    await hub._redis.aclose()
    await hub._wire._redis.aclose()


def test_a_viewer_whose_past_was_not_told_in_time_misses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    turn = uuid4()
    key = stream_key(turn)

    async def seen_by_the_second(redis: Redis) -> list[str]:
        hub = Hub()
        async with aclosing(hub.tail(turn, after=START, tick=5)) as first:
            await anext(first)
            await asyncio.sleep(0.3)  # The reader waits for what comes next.
            monkeypatch.setattr(import_module("conversations.streams.hub"), "BRIEFLY", 0)
            async with aclosing(hub.tail(turn, after=START, tick=5)) as second:
                coming = asyncio.ensure_future(anext(second))
                await asyncio.sleep(0)
                redis.xadd(key, {"event": "delta", "data": "3"})  # Answers the read that is under way.
                data = [entry.data for entry in await coming]
                while "3" not in data:
                    data += [entry.data for entry in await anext(second)]
        await closed(hub)
        return data

    with Redis.from_url(settings.REDIS_URL) as redis:
        for word in ("1", "2"):
            redis.xadd(key, {"event": "delta", "data": word})
        try:
            assert asyncio.run(seen_by_the_second(redis)) == ["1", "2", "3"]
        finally:
            redis.delete(key)
