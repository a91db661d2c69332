"""A whole answer of a model, for work in the background that nobody watches."""

import asyncio
import time
from contextlib import aclosing
from dataclasses import dataclass

from conversations.providers.errors import ProviderError
from conversations.providers.loop import models_loop
from conversations.providers.registry import chat_model
from conversations.providers.values import ChatRequest, Finished, TextDelta


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """What a model said, without its reasoning, and what it took."""

    text: str
    end: Finished
    elapsed_ms: int


def answer_of(name: str, request: ChatRequest, *, seconds: float) -> WholeAnswer:
    """Ask the model of that name and wait, at most so many seconds.

    Raises:
        ProviderError: it did not answer, or not to the end.
    """
    model = chat_model(name)

    async def answered() -> WholeAnswer:
        began, said = time.monotonic(), ""
        async with asyncio.timeout(seconds), aclosing(model.stream(request)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    said += event.text
                elif isinstance(event, Finished):
                    return WholeAnswer(said, event, round((time.monotonic() - began) * 1000))
        raise ProviderError("dropped")

    try:
        return asyncio.run_coroutine_threadsafe(answered(), models_loop()).result()
    except TimeoutError as error:
        raise ProviderError("timed_out") from error
