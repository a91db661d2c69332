"""The database from an event loop: short calls in a few threads of their own."""

import asyncio
import functools
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, close_old_connections

P = ParamSpec("P")
R = TypeVar("R")

THREADS = 4
PATIENCE = 20.0
"""Seconds a reply's end waits for a database that is away."""
PAUSE = 0.5

AWAY = (OperationalError, InterfaceError)
"""The server cannot be reached, or broke off; everything else is a fault that repeating does not mend."""

_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="database")


async def in_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call `function`, which may wait for the database, without holding up the loop."""
    call = functools.partial(_with_fresh_connection, function, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_threads, call)


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
