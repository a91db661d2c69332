"""The writers of a process share its time: the more there are, the more words each of them writes at once."""

import asyncio
import json
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from redis import Redis

from conversations.replies.rounds import between_saves
from conversations.streams import Publisher, Wire, stream_key

TOLD = [f"{number} " for number in range(20)]


@pytest.mark.parametrize(("others", "writes"), [(0, range(6, 22)), (399, range(1, 5))])
def test_many_writers_join_more_and_lose_nothing(others: int, writes: range) -> None:
    turn = uuid4()

    async def write() -> int:
        wire = Wire()
        wire.writers += others
        publisher = Publisher(wire, turn)
        for words in TOLD:
            publisher.push(words)
            await asyncio.sleep(0.025)
        await publisher.close(None)
        await wire._redis.aclose()
        return wire.writers

    assert asyncio.run(write()) == others
    with Redis.from_url(settings.REDIS_URL, decode_responses=True) as redis:
        entries: Any = redis.xrange(stream_key(turn))
        redis.delete(stream_key(turn))
    assert "".join(json.loads(entry["data"])["text"] for _, entry in entries) == "".join(TOLD)
    assert len(entries) in writes


def test_where_many_are_written_each_is_saved_more_seldom() -> None:
    assert [between_saves(replies) for replies in (1, 60, 240)] == [1.0, 1.0, 4.0]
