"""All replies of a worker process, on one event loop in a thread of its own; Celery's threads only wait for it.

So hundreds of replies that wait for their providers cost little, and one heartbeat renews the leases of all of them.
"""

import asyncio
import threading
import traceback
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import IntegrityError

from conversations import turns
from conversations.database import AWAY, in_lease_thread, in_thread, insist
from conversations.models import Turn
from conversations.providers.errors import ProviderError
from conversations.providers.loop import models_loop
from conversations.providers.registry import chat_model, default_model_name
from conversations.providers.values import ChatModel
from conversations.refusals import PromptTooLong
from conversations.replies.draft import Draft
from conversations.replies.request import teach, trace
from conversations.replies.rounds import Rounds
from conversations.streams import Publisher, Wire
from conversations.tools.registry import Tools

log = structlog.get_logger(__name__)

SHUTDOWN_PATIENCE = 3.0
"""Seconds the replies get to write their end when the worker stops."""


@dataclass
class _Running:
    """A reply of this process."""

    writing: "asyncio.Task[None]"
    answering: "asyncio.Task[Any] | None"
    fate: Turn.Status | None = None
    """How the turn ends when it was us who ended the writing."""

    def cancel(self, fate: Turn.Status) -> None:
        """Once: a second cancellation could break off the closing of the provider's connection."""
        if self.fate is None:
            self.fate = fate
            self.writing.cancel()


class Replies:
    """The replies of one process."""

    def __init__(self) -> None:
        self._running: dict[UUID, _Running] = {}
        self._is_closing = False
        self._wire: Wire | None = None
        self._heartbeat: asyncio.Task[None] | None = None
        self._loading = asyncio.Lock()
        self._tools = Tools()
        self._lease = timedelta(seconds=settings.POCKETCHAT_LEASE)
        self._loop = models_loop()

    def answer(self, turn_id: UUID) -> None:
        """Answer a queued turn and wait for its end; nothing happens when it is not this process's to answer."""
        asyncio.run_coroutine_threadsafe(self._answer(turn_id), self._loop).result()

    def warm_up(self) -> None:
        """Load what the first reply needs, and do not wait for it."""
        asyncio.run_coroutine_threadsafe(self._warm_up(), self._loop)

    def shut_down(self) -> None:
        """End all replies as interrupted, keeping what they have; those not begun stay queued for another worker."""
        asyncio.run_coroutine_threadsafe(self._cancel_all(), self._loop).result(timeout=2 * SHUTDOWN_PATIENCE)

    async def _answer(self, turn_id: UUID) -> None:
        if self._is_closing:
            return
        turn = await in_thread(turns.claim, turn_id, lease=self._lease)
        if turn is None:
            return
        self._wire = self._wire or Wire()
        publisher, draft = Publisher(self._wire, turn_id), Draft()
        running = self._begin(turn, draft, publisher)
        ended: Turn.Status | None = None
        try:
            await asyncio.wait([running.writing])
            outcome = _outcome(turn_id, running, draft)
            ended = await _ended(turn, outcome)
        finally:
            del self._running[turn_id]
            await publisher.close(ended)
        if ended:
            await in_thread(teach, turn, draft)
        with suppress(IntegrityError):  # Erased between the question and the answer: no trace is wanted.
            await in_thread(trace, turn, draft, outcome)

    def _begin(self, turn: Turn, draft: Draft, publisher: Publisher) -> _Running:
        writing = asyncio.create_task(self._write(turn, draft, publisher))
        running = self._running[turn.pk] = _Running(writing, asyncio.current_task())
        if self._is_closing:
            running.cancel(Turn.Status.INTERRUPTED)
        if self._heartbeat is None or self._heartbeat.done():
            self._heartbeat = asyncio.create_task(self._renew())
        return running

    async def _write(self, turn: Turn, draft: Draft, publisher: Publisher) -> None:
        """Have the model answer into `draft`."""
        model = await self._model(turn.model)
        tools = await self._tools.all() if model.takes_tools else {}
        await Rounds(turn, draft, publisher).run(model, tools)

    async def _warm_up(self) -> None:
        with suppress(ProviderError):  # The first reply will say what is wrong.
            await self._model(default_model_name())
        log.info("replies_warm")

    async def _model(self, name: str) -> ChatModel:
        """Raises `ProviderError` as `chat_model` does."""
        async with self._loading:  # One at a time: the first loads the provider's SDK, the others find it there.
            return await in_thread(chat_model, name)

    async def _renew(self) -> None:
        """Renew all leases while there are any; what is no longer ours, or shall stop, is cancelled."""
        while self._running:
            held = list(self._running)
            try:
                renewal = await in_lease_thread(turns.renew, held, lease=self._lease)
            except DatabaseError as error:
                log.warning("leases_not_renewed", turns=len(held), error=type(error).__name__)
            else:
                self._cancel_lost(held, renewal)
            await asyncio.sleep(settings.POCKETCHAT_HEARTBEAT)

    def _cancel_lost(self, held: list[UUID], renewal: turns.Renewal) -> None:
        """Of those that were asked about: others may have begun, and some have ended, while the database answered."""
        for turn_id in held:
            if (running := self._running.get(turn_id)) is None:
                continue
            if turn_id in renewal.stopping:
                running.cancel(Turn.Status.STOPPED)
            elif turn_id not in renewal.alive:
                running.cancel(Turn.Status.INTERRUPTED)

    async def _cancel_all(self) -> None:
        self._is_closing = True
        for running in self._running.values():
            running.cancel(Turn.Status.INTERRUPTED)
        if answering := [running.answering for running in self._running.values() if running.answering]:
            await asyncio.wait(answering, timeout=SHUTDOWN_PATIENCE)


_lock = threading.Lock()
_replies: list[Replies] = []


def replies() -> Replies:
    """The replies of this process; the first call starts their thread."""
    with _lock:
        if not _replies:
            _replies.append(Replies())
        return _replies[0]


def end_running_replies() -> None:
    """For a worker that is asked to stop; nothing happens where no reply ever ran."""
    for running in _replies:
        running.shut_down()


async def _ended(turn: Turn, outcome: turns.Outcome) -> Turn.Status | None:
    """How the turn ended; None: somebody else ended it first."""
    try:
        return outcome.status if await insist(turns.finish, turn, outcome) else None
    except AWAY:
        raise
    except Exception as error:  # noqa: BLE001  # whatever cannot be stored, nobody shall wait for the sweep
        _log_fault("end_not_stored", turn.pk, error)
    failed = turns.Outcome(Turn.Status.FAILED, outcome.content, outcome.earlier, error_code="internal")
    return failed.status if await insist(turns.finish, turn, failed) else None


def _outcome(turn_id: UUID, running: _Running, draft: Draft) -> turns.Outcome:
    """How the writing, which is over, ended."""
    current = draft.current
    facts: dict[str, Any] = {
        "content": draft.content,
        "earlier": draft.earlier,
        "input_tokens": draft.tokens("input_tokens"),
        "output_tokens": draft.tokens("output_tokens"),
        "answer_tokens": current.finished.output_tokens if current.finished else None,
        "answer_reasoning": current.finished.reasoning_tokens if current.finished else None,
        "requests": draft.requests,
        "cached_tokens": draft.tokens("cached_tokens"),
        "cost": draft.cost,
    }
    error = None if running.writing.cancelled() else running.writing.exception()
    if running.fate and (error or running.writing.cancelled()):
        # Being cancelled in the middle of anything, a provider's client may raise whatever it likes.
        return turns.Outcome(running.fate, **facts)
    if error:
        return turns.Outcome(Turn.Status.FAILED, error_code=_error_code(turn_id, error), **facts)
    if current.finished is None or not draft.content:
        return turns.Outcome(Turn.Status.FAILED, error_code="empty_reply", **facts)
    return turns.Outcome(Turn.Status.COMPLETE, was_cut_off=current.finished.was_cut_off, **facts)


def _error_code(turn_id: UUID, error: BaseException) -> str:
    if isinstance(error, ProviderError):
        return error.code
    if isinstance(error, PromptTooLong):
        return "context_too_long"
    # Whatever it is, the turn must end.
    _log_fault("reply_broke", turn_id, error)
    return "internal"


def _log_fault(event: str, turn_id: UUID, error: BaseException) -> None:
    """The message could quote the conversation: the log gets the places alone."""
    where = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    log.error(event, turn=str(turn_id), error=type(error).__name__, where=where)
