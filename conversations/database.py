"""The database from an event loop: short calls in a few threads of their own.

What may take long, or must never wait for what does, has threads apart.
"""

import asyncio
import functools
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, close_old_connections

P = ParamSpec("P")
R = TypeVar("R")

PATIENCE = 20.0
"""Seconds a reply's end waits for a database that is away."""
PAUSE = 0.5

AWAY = (OperationalError, InterfaceError)
"""The server cannot be reached, or broke off; everything else is a fault that repeating does not mend."""


class Threads:
    """So many threads, started when they are needed; whoever finds them busy waits for the first that is free."""

    def __init__(self, name: str, *, most: int) -> None:
        self._threads = ThreadPoolExecutor(most, thread_name_prefix=name)

    async def __call__(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call `function`, which may wait for the database, without holding up the loop."""
        call = functools.partial(_with_fresh_connection, function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)


in_thread = Threads("database", most=4)

in_lease_thread = Threads("leases", most=1)
"""Replies are given up by the sweep when their leases are not renewed in time, and Stop is learned of here."""

in_viewer_thread = Threads("viewers", most=4)
"""Those who watch a reply, however many, ask now and then whether it has ended."""

in_search_thread = Threads("searches", most=2)
"""A search reads a whole conversation: the end of a reply must not wait for those of others."""


in_recall_thread = Threads("recalls", most=4)
"""What a model is sent is put together here: an embedder may be waited for, twice, while other replies go on."""


async def insist(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """The same, even if the database is away for a while: what was answered must not be lost to a restart."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return await in_thread(function, *args, **kwargs)
        except AWAY:
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(PAUSE)


def _with_fresh_connection(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Threads of our own are not tidied up by a request's end; a connection that died must not be used again."""
    close_old_connections()
    try:
        return function(*args, **kwargs)
    finally:
        close_old_connections()
