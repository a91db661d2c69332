"""Calls in other threads, each with a connection of its own to the database, which is closed behind it."""

import functools
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import ParamSpec, TypeVar

from django.db import connections

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def with_own_connection(function: Callable[P, R]) -> Callable[P, R]:
    """The function as another thread may call it."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        finally:
            connections.close_all()

    return call


def at_once(function: Callable[[T], R], arguments: Iterable[T]) -> list[R]:
    """Call it with each of the arguments, in as many threads, none of which begins before all are there."""
    given = list(arguments)
    start = Barrier(len(given))

    @with_own_connection
    def attempt(argument: T) -> R:
        start.wait(timeout=10)
        return function(argument)

    with ThreadPoolExecutor(len(given)) as crowd:
        return list(crowd.map(attempt, given))
