"""Tasks that wait in the queue, or that a worker has taken and not confirmed: their arguments are ids."""

import base64
import binascii
import json
import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.conf import settings
from redis import Redis

from conversations.retention.ids import Ids
from conversations.streams import briefly_connected

AT_ONCE = 1000
PRIORITIES = ("", "\x06\x163", "\x06\x166", "\x06\x169")
"""What kombu appends to a queue's name for messages of a lower priority."""
UNACKED, UNACKED_INDEX = "unacked", "unacked_index"
"""Where kombu keeps what a worker has taken."""
AN_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class QueuedTasks:
    """A worker that has one in its hands already finds nothing to do."""

    name = "queue"

    def erase(self, ids: Ids) -> int:
        with briefly_connected() as redis:
            waiting = sum(int(redis.lrem(queue, 1, raw)) for queue, raw in list(_waiting(redis, ids)))
            for tag in (taken := list(_taken(redis, ids))):
                redis.hdel(UNACKED, tag)
                redis.zrem(UNACKED_INDEX, tag)
        return waiting + len(taken)

    def find(self, ids: Ids) -> int:
        with briefly_connected() as redis:
            return sum(1 for _ in _waiting(redis, ids)) + sum(1 for _ in _taken(redis, ids))


def queues() -> list[str]:
    routes: dict[str, dict[str, str]] = settings.CELERY_TASK_ROUTES
    names = {settings.CELERY_TASK_DEFAULT_QUEUE, *(route["queue"] for route in routes.values())}
    return [f"{name}{priority}" for name in sorted(names) for priority in PRIORITIES]


def ids_in_queues() -> set[UUID]:
    """Every id that a waiting task has for an argument."""
    with briefly_connected() as redis:
        messages = [json.loads(raw) for _, raw in _all_waiting(redis)]
        messages += [json.loads(raw)[0] for _, raw in redis.hscan_iter(UNACKED, count=AT_ONCE)]
    return {UUID(one) for message in messages for one in AN_ID.findall(_body(message))}


def _waiting(redis: Redis, ids: Ids) -> Iterator[tuple[str, bytes]]:
    for queue, raw in _all_waiting(redis):
        if not ids.names.isdisjoint(named_in(json.loads(raw))):
            yield queue, raw


def _all_waiting(redis: Redis) -> Iterator[tuple[str, bytes]]:
    for queue in queues():
        for start in range(0, int(redis.llen(queue)), AT_ONCE):
            part: Any = redis.lrange(queue, start, start + AT_ONCE - 1)
            for raw in part:
                yield queue, raw


def _taken(redis: Redis, ids: Ids) -> Iterator[bytes]:
    for tag, raw in redis.hscan_iter(UNACKED, count=AT_ONCE):
        if not ids.names.isdisjoint(named_in(json.loads(raw)[0])):
            yield tag


def named_in(message: dict[str, Any]) -> set[str]:
    """Every id in a message, wherever in it: in its headers as they are, in its body encoded."""
    return set(AN_ID.findall(json.dumps(message.get("headers", {})))) | set(AN_ID.findall(_body(message)))


def _body(message: dict[str, Any]) -> str:
    """The arguments of the task."""
    try:
        return base64.b64decode(message.get("body", ""), validate=True).decode(errors="replace")
    except binascii.Error:
        return str(message["body"])
