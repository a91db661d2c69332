"""A whole answer of a model, for work in the background that nobody watches."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import aclosing
from dataclasses import dataclass

from conversations.providers.errors import GAVE_WAY, ProviderError
from conversations.providers.loop import models_loop
from conversations.providers.reasoning import without_reasoning
from conversations.providers.registry import chat_model
from conversations.providers.values import ChatRequest, Finished, TextDelta

LOOK_EVERY = 0.5
"""Seconds between two looks whether a question has to give way."""


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """What a model said, without its reasoning, and what it took."""

    text: str
    end: Finished
    elapsed_ms: int


def answer_of(
    name: str, request: ChatRequest, *, seconds: float, gives_way: Callable[[], bool] | None = None
) -> WholeAnswer:
    """Ask the model of that name and wait, at most so many seconds. `gives_way` is asked before that and now and then
    while waiting: whether something more urgent needs the model.

    Raises:
        ProviderError: it did not answer, or not to the end; `gave_way` when it was needed for something else.
    """
    if gives_way and gives_way():
        raise ProviderError(GAVE_WAY)
    model = chat_model(name)

    async def answered() -> WholeAnswer:
        began, said = time.monotonic(), ""
        async with asyncio.timeout(seconds), aclosing(model.stream(request)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    said += event.text
                elif isinstance(event, Finished):
                    return WholeAnswer(without_reasoning(said), event, round((time.monotonic() - began) * 1000))
        raise ProviderError("dropped")

    asked = asyncio.run_coroutine_threadsafe(answered(), models_loop())
    try:
        return _waited_for(asked, gives_way)
    except TimeoutError as error:
        raise ProviderError("timed_out") from error
    finally:
        asked.cancel()  # Closes the connection; nothing happens to what has ended.


def _waited_for(asked: "Future[WholeAnswer]", gives_way: Callable[[], bool] | None) -> WholeAnswer:
    while gives_way:
        try:
            return asked.result(timeout=LOOK_EVERY)
        except TimeoutError:
            if not asked.done() and gives_way():
                raise ProviderError(GAVE_WAY) from None
            if asked.done():
                break
    return asked.result()
