"""One reply, from the claim to the end: ask the provider, pass its words on, keep them, end the turn once.

All replies of a worker process share one event loop in a thread of its own; Celery's threads only wait for it. So
hundreds of replies that wait for their providers cost little, and one heartbeat renews the leases of all of them.
"""

import asyncio
import functools
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError, close_old_connections

from conversations import turns
from conversations.context.assemble import PromptTooLong, assemble
from conversations.context.values import Budget
from conversations.models import ModelCall, Turn
from conversations.providers.errors import ProviderError
from conversations.providers.registry import chat_model, chat_model_info
from conversations.providers.values import ChatModel, ChatRequest, Finished, TextDelta, ThinkingDelta
from conversations.streams import Publisher, Wire
from conversations.text import clean, estimate_tokens

log = structlog.get_logger(__name__)

P = ParamSpec("P")
R = TypeVar("R")

SAVE_EVERY = 1.0
"""Seconds between two saves of a reply that is being written."""
DATABASE_THREADS = 4
DATABASE_PATIENCE = 20.0
"""Seconds a reply's end waits for a database that is away."""
DATABASE_PAUSE = 0.5
SHUTDOWN_PATIENCE = 3.0
"""Seconds the replies get to write their end when the worker stops."""


def budget_for(model_name: str) -> Budget:
    """How the tokens of a model are shared out; a small window gives a quarter of itself to the reply."""
    window = chat_model_info(model_name).window
    return Budget(
        window=window,
        reply=min(settings.POCKETCHAT_REPLY_TOKENS, window // 4),
        history=settings.POCKETCHAT_HISTORY_TOKENS,
    )


def check_prompt(text: str, *, model_name: str) -> str:
    """Clean a question and make sure that the model can take it.

    Raises:
        EmptyPrompt, PromptTooLong
    """
    cleaned = turns.prompt_text(text, max_characters=settings.POCKETCHAT_PROMPT_CHARACTERS)
    tokens = estimate_tokens(cleaned)
    system = estimate_tokens(settings.POCKETCHAT_SYSTEM_PROMPT)
    if tokens > (limit := budget_for(model_name).largest_prompt(system=system)):
        raise PromptTooLong(size=tokens, limit=limit, unit="tokens")
    return cleaned


@dataclass
class _Draft:
    """What has come of an answer so far."""

    text: str = ""
    thinking: str = ""
    finished: Finished | None = None
    began: float = field(default_factory=time.monotonic)
    first_token_ms: int | None = None
    saved: str = ""

    @property
    def content(self) -> list[dict[str, Any]]:
        blocks = [{"type": "thinking", "text": clean(self.thinking)}, {"type": "text", "text": clean(self.text)}]
        return [block for block in blocks if block["text"]] if self.text.strip() else []

    @property
    def elapsed_ms(self) -> int:
        return round((time.monotonic() - self.began) * 1000)


@dataclass
class _Running:
    """A reply of this process."""

    writing: "asyncio.Task[None]"
    answering: "asyncio.Task[Any] | None"
    fate: Turn.Status | None = None
    """How the turn ends when it was us who ended the writing."""

    def cancel(self, fate: Turn.Status) -> None:
        self.fate = self.fate or fate
        self.writing.cancel()


class Replies:
    """The replies of one process, on one event loop."""

    def __init__(self) -> None:
        self._running: dict[UUID, _Running] = {}
        self._database = ThreadPoolExecutor(DATABASE_THREADS, thread_name_prefix="database")
        self._wire: Wire | None = None
        self._heartbeat: asyncio.Task[None] | None = None
        self._lease = timedelta(seconds=settings.POCKETCHAT_LEASE)
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="replies", daemon=True).start()

    def answer(self, turn_id: UUID) -> Turn | None:
        """Answer a queued turn and wait for its end; None: it was not this process's to answer."""
        return asyncio.run_coroutine_threadsafe(self._answer(turn_id), self._loop).result()

    def shut_down(self) -> None:
        """End all replies as interrupted, keeping what they have."""
        asyncio.run_coroutine_threadsafe(self._cancel_all(), self._loop).result(timeout=2 * SHUTDOWN_PATIENCE)

    async def _answer(self, turn_id: UUID) -> Turn | None:
        turn = await self._in_database(turns.claim, turn_id, lease=self._lease)
        if turn is None:
            return None
        self._wire = self._wire or Wire()
        publisher = Publisher(self._wire, turn_id)
        draft = _Draft()
        writing = asyncio.create_task(self._write(turn, draft, publisher))
        self._running[turn_id] = _Running(writing, asyncio.current_task())
        if self._heartbeat is None or self._heartbeat.done():
            self._heartbeat = asyncio.create_task(self._renew())
        try:
            outcome = await self._outcome(turn_id, draft)
            ended = await self._insist(turns.finish, turn, outcome)
            await self._insist(_trace, turn, draft, outcome)
        finally:
            del self._running[turn_id]
            await publisher.close(outcome.status)
        return turn if ended else None

    async def _outcome(self, turn_id: UUID, draft: _Draft) -> turns.Outcome:
        """Wait for the writing to end, and say how it ended."""
        running = self._running[turn_id]
        await asyncio.wait([running.writing])
        facts: dict[str, Any] = {"content": draft.content}
        error = None if running.writing.cancelled() else running.writing.exception()
        if running.fate and (error or running.writing.cancelled()):
            # Being cancelled in the middle of anything, a provider's client may raise whatever it likes.
            return turns.Outcome(running.fate, **facts)
        if error:
            return turns.Outcome(Turn.Status.FAILED, error_code=_error_code(turn_id, error), **facts)
        if draft.finished is None or not draft.content:
            return turns.Outcome(Turn.Status.FAILED, error_code="empty_reply", **facts)
        end = draft.finished
        return turns.Outcome(
            Turn.Status.COMPLETE,
            input_tokens=end.input_tokens,
            output_tokens=end.output_tokens,
            cached_tokens=end.cached_tokens,
            cost=end.cost,
            was_cut_off=end.was_cut_off,
            **facts,
        )

    async def _write(self, turn: Turn, draft: _Draft, publisher: Publisher) -> None:
        """Have the model answer into `draft`."""
        model = chat_model(turn.model)
        request = await self._in_database(_request, turn, model)
        saver = asyncio.create_task(self._save(turn, draft))
        try:
            async with aclosing(model.stream(request)) as events:
                async for event in events:
                    match event:
                        case TextDelta(text):
                            draft.first_token_ms = draft.first_token_ms or draft.elapsed_ms
                            draft.text += text
                            publisher.push(text)
                        case ThinkingDelta(text):
                            draft.thinking += text
                        case Finished():
                            draft.finished = event
        finally:
            saver.cancel()

    async def _save(self, turn: Turn, draft: _Draft) -> None:
        """Keep the answer while it grows, so that little is lost with a worker."""
        while True:
            await asyncio.sleep(SAVE_EVERY)
            if draft.text == draft.saved:
                continue
            text, content = draft.text, draft.content
            with suppress(DatabaseError):  # The next save has it all; the heartbeat says when the turn is lost.
                await self._in_database(turns.save_partial, turn, content)
                draft.saved = text

    async def _renew(self) -> None:
        """Renew all leases while there are any; what is no longer ours, or shall stop, is cancelled."""
        while self._running:
            held = list(self._running)
            try:
                renewal = await self._in_database(turns.renew, held, lease=self._lease)
            except DatabaseError as error:
                log.warning("leases_not_renewed", turns=len(self._running), error=type(error).__name__)
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
        for running in self._running.values():
            running.cancel(Turn.Status.INTERRUPTED)
        if answering := [running.answering for running in self._running.values() if running.answering]:
            await asyncio.wait(answering, timeout=SHUTDOWN_PATIENCE)

    async def _insist(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Do it even if the database is away for a while: what was answered must not be lost to a restart."""
        deadline = time.monotonic() + DATABASE_PATIENCE
        while True:
            try:
                return await self._in_database(function, *args, **kwargs)
            except DatabaseError:
                if time.monotonic() > deadline:
                    raise
            await asyncio.sleep(DATABASE_PAUSE)

    async def _in_database(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        call = functools.partial(_with_fresh_connection, function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._database, call)


@functools.cache
def replies() -> Replies:
    """The replies of this process; the first call starts their thread."""
    return Replies()


def _with_fresh_connection(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Threads of our own are not tidied up by a request's end; a connection that died must not be used again."""
    close_old_connections()
    try:
        return function(*args, **kwargs)
    finally:
        close_old_connections()


def _request(turn: Turn, model: ChatModel) -> ChatRequest:
    """What the model will see, and the record of it."""
    budget = budget_for(model.info.name)
    system_prompt = turn.conversation.system_prompt or settings.POCKETCHAT_SYSTEM_PROMPT
    assembly = assemble(
        turns.earlier_turns(turn, tokens=budget.history),
        turns.stored(turn.prompt),
        system_prompt=system_prompt,
        system_tokens=estimate_tokens(system_prompt),
        budget=budget,
    )
    turns.record_context(turn, assembly.record.as_json())
    return assembly.request


def _error_code(turn_id: UUID, error: BaseException) -> str:
    if isinstance(error, ProviderError):
        return error.code
    if isinstance(error, PromptTooLong):
        return "context_too_long"
    # Whatever it is, the turn must end; the type says enough for the log, the message could quote the conversation.
    where = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    log.error("reply_broke", turn=str(turn_id), error=type(error).__name__, where=where)
    return "internal"


def _trace(turn: Turn, draft: _Draft, outcome: turns.Outcome) -> None:
    """Keep what the call took. The turn may have been erased meanwhile; then there is nothing to trace."""
    if not Turn.objects.filter(pk=turn.pk).exists():
        return
    ModelCall.objects.create(
        conversation_id=turn.conversation_id,
        turn=turn,
        purpose=ModelCall.Purpose.REPLY,
        provider=turn.model.partition(":")[0],
        model=turn.model.partition(":")[2],
        input_tokens=outcome.input_tokens,
        output_tokens=outcome.output_tokens,
        cached_tokens=outcome.cached_tokens,
        cost=outcome.cost,
        first_token_ms=draft.first_token_ms,
        latency_ms=draft.elapsed_ms,
        outcome=outcome.error_code or ("ok" if outcome.status == Turn.Status.COMPLETE else outcome.status),
    )
