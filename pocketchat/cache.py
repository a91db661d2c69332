"""The cache: Redis, and this process's own memory while Redis is away.

Log-in asks the cache how often somebody has tried. With Redis gone people can still log in, and tries are still
counted, by each process for itself.
"""

import time
from collections.abc import Callable
from typing import Any

import structlog
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

log = structlog.get_logger(__name__)

PATIENCE = 1.0
"""Seconds: who logs in waits this long for a Redis that hangs."""
AWAY = 10.0
"""Seconds before a failed Redis is asked again."""

_away_until = 0.0


def _in_either(name: str) -> Callable[..., Any]:
    def operation(self: "Cache", *args: Any, **kwargs: Any) -> Any:
        global _away_until  # noqa: PLW0603  # Django makes a cache for each thread; Redis is away for all of them
        if time.monotonic() >= _away_until:
            try:
                return getattr(RedisCache, name)(self, *args, **kwargs)
            except RedisError as error:
                _away_until = time.monotonic() + AWAY
                log.warning("cache_in_memory", error=type(error).__name__)
        return getattr(self.memory, name)(*args, **kwargs)

    operation.__name__ = name
    return operation


class Cache(RedisCache):
    """What is written to one of the two is not found in the other."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        options = {
            "socket_timeout": PATIENCE,
            "socket_connect_timeout": PATIENCE,
            "retry": Retry(NoBackoff(), 0),
            **params.get("OPTIONS", {}),
        }
        super().__init__(server, params | {"OPTIONS": options})
        self.memory = LocMemCache("pocketchat", {})

    add = _in_either("add")
    get = _in_either("get")
    set = _in_either("set")
    touch = _in_either("touch")
    delete = _in_either("delete")
    get_many = _in_either("get_many")
    has_key = _in_either("has_key")
    incr = _in_either("incr")
    set_many = _in_either("set_many")
    delete_many = _in_either("delete_many")
    clear = _in_either("clear")
