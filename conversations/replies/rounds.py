"""The rounds of a reply: ask the model, carry out the tools it calls, ask again, until it answers."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress

from django.conf import settings
from django.db import Error as DatabaseError
from django.utils import timezone

from conversations import turns
from conversations.blocks import call_block
from conversations.database import in_recall_thread, in_thread, insist
from conversations.models import Turn
from conversations.providers.errors import ProviderError
from conversations.providers.values import ChatModel, ToolCall, ToolResult
from conversations.replies.draft import Draft
from conversations.replies.request import prepared
from conversations.streams import Publisher
from conversations.tools.calls import carried_out
from conversations.tools.labels import label_of
from conversations.tools.values import Scene, Tool

SAVE_EVERY = 1.0
"""Seconds between two saves of a reply that is being written, at least."""
SAVES = 60
"""A second, of all replies of one process: where there are more, each is saved more seldom. What its viewers have seen
is in the events as well: words that were not saved are lost only where worker and Redis are lost together."""


def between_saves(replies: int) -> float:
    """Seconds from one save of a reply to its next, while one process writes so many."""
    return max(SAVE_EVERY, replies / SAVES)


class Rounds:
    """The rounds of one turn."""

    def __init__(self, turn: Turn, draft: Draft, publisher: Publisher) -> None:
        self._turn = turn
        self._draft = draft
        self._publisher = publisher
        self._saving = asyncio.Lock()
        """A save takes the draft as it is, and the next waits for it: none overwrites what a later one wrote."""

    async def run(self, model: ChatModel, tools: Mapping[str, Tool]) -> None:
        """Have the model answer into the draft.

        Raises:
            ProviderError, PromptTooLong: the answer did not come, or not to its end.
        """
        saver = asyncio.create_task(self._save_now_and_then())
        try:
            for left in range(settings.POCKETCHAT_TOOL_ROUNDS if tools else 0, -1, -1):
                await self._ask(model, tools, must_answer=bool(tools) and left == 0)
                if not self._draft.current.calls:
                    return
                await self._call(tools)
                self._draft.begin_round()
        finally:
            saver.cancel()

    async def _ask(self, model: ChatModel, tools: Mapping[str, Tool], *, must_answer: bool) -> None:
        """Ask; once in a turn what the model finds too long, before its first word, is asked again with less."""
        try:
            await self._ask_once(model, tools, must_answer=must_answer)
        except ProviderError as error:
            refused = self._draft.current
            if error.code != "context_too_long" or self._draft.is_tightened or refused.has_begun:
                raise
            refused.refused = error.code
            self._draft.begin_round()
            await self._ask_once(model, tools, must_answer=must_answer)

    async def _ask_once(self, model: ChatModel, tools: Mapping[str, Tool], *, must_answer: bool) -> None:
        draft, current = self._draft, self._draft.current
        current.asked = asked = await in_recall_thread(
            prepared, self._turn, draft, tools, must_answer=must_answer, is_tightened=draft.is_tightened
        )
        current.begin()
        async with aclosing(model.stream(asked.request)) as events:
            async for event in events:
                if isinstance(event, ToolCall) and (must_answer or not asked.request.tools):
                    continue  # Nobody offered it.
                if words := current.take(event):
                    self._publisher.push(words)
        if must_answer and not current.content:
            raise ProviderError("tools_only")

    async def _call(self, tools: Mapping[str, Tool]) -> None:
        """Carry out the calls of the round, which are stored before they begin, and each result when it is there."""
        current = self._draft.current
        await self._save_surely()
        for call in current.calls:
            self._tell(call)
        by_id = {call.id: call for call in current.calls}
        results: AsyncGenerator[ToolResult, None] = carried_out(
            current.calls, tools, Scene(turn=self._turn, now=timezone.now())
        )
        async with aclosing(results):
            async for result in results:
                current.results[result.call_id] = result
                await self._save_surely()
                self._tell(by_id[result.call_id], result)

    def _tell(self, call: ToolCall, result: ToolResult | None = None) -> None:
        status = "running" if result is None else "failed" if result.is_error else "done"
        arguments = call_block(call)["input"]
        told = {"id": call.id, "name": call.name, "status": status, "label": label_of(call.name, arguments, status)}
        returned = {"result": result.text} if result else {}
        self._publisher.tell(told | {"arguments": arguments} | returned)

    async def _save_surely(self) -> None:
        async with self._saving:
            await insist(turns.save_partial, self._turn, self._draft.content, earlier=self._draft.earlier)

    async def _save_now_and_then(self) -> None:
        """Keep the answer while it grows, so that little is lost with a worker."""
        saved = ""
        while True:
            await asyncio.sleep(between_saves(self._publisher.writers))
            if (text := self._draft.current.text) == saved:
                continue
            # The next save has it all; the heartbeat says when the turn is lost.
            with suppress(DatabaseError):
                async with self._saving:
                    await in_thread(turns.save_partial, self._turn, self._draft.content, earlier=self._draft.earlier)
                saved = text
