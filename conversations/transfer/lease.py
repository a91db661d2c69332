"""The hold of a worker on the export it makes: renewed by a thread, which also tells how far it is."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self, TypeVar

import structlog
from django.db import Error as DatabaseError
from django.db import connections
from django.utils import timezone

from conversations.models import Export
from conversations.transfer import exports

log = structlog.get_logger(__name__)

BEAT = 1.0
"""Seconds between two renewals; also how soon the worker learns that nobody wants the export any longer."""

R = TypeVar("R")


class Lease:
    """While it is entered. The worker itself is in a transaction that only reads, so all is told from here."""

    def __init__(self, export: Export) -> None:
        self._export = export
        self._done = 0
        self._ended = threading.Event()
        self._is_lost = False
        self._thread = threading.Thread(target=self._renew, name="export-lease", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def tell(self, **facts: object) -> None:
        """Keep facts of the export at once. Raises `LeaseLost`."""
        if not _elsewhere(lambda: exports.tell(self._export, now=timezone.now(), **facts)):
            raise exports.LeaseLost

    def advance(self, messages: int) -> None:
        """So many more are written. Raises `LeaseLost`."""
        self._done += messages
        if self._is_lost:
            raise exports.LeaseLost

    def _renew(self) -> None:
        try:
            while not self._ended.wait(BEAT) and not self._is_lost:
                self._is_lost = not self._is_kept()
        finally:
            connections.close_all()

    def _is_kept(self) -> bool:
        try:
            return exports.tell(self._export, now=timezone.now(), done=self._done)
        except DatabaseError as error:  # Away for a moment, or for so long that the lease runs out.
            log.warning("export_lease_not_renewed", export=str(self._export.pk), error=type(error).__name__)
            connections.close_all()
            return True


def _elsewhere(function: Callable[[], R]) -> R:
    """Called in a thread with a database connection of its own."""

    def call() -> R:
        try:
            return function()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as other:
        return other.submit(call).result()
