"""One connection to Redis for everything a process has to say: commands that meet on the way travel together."""

import asyncio
from typing import Any

from django.conf import settings
from redis import asyncio as aioredis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

SOCKET_TIMEOUT = 10.0
"""Seconds; longer than the longest wait for news."""


def connected() -> "aioredis.Redis":
    """A client for the running loop. It never repeats a command by itself: a repeated append is a doubled word."""
    return aioredis.Redis.from_url(
        settings.REDIS_URL, protocol=2, socket_timeout=SOCKET_TIMEOUT, retry=Retry(NoBackoff(), 0)
    )


class Wire:
    """Sends commands in the order they come. While some are on their way the next gather, so that hundreds of writers
    cost one round trip, not hundreds."""

    def __init__(self) -> None:
        self.writers = 0
        """How many share it at this moment."""
        self._redis = connected()
        self._waiting: list[tuple[tuple[Any, ...], asyncio.Future[Any]]] = []
        self._sender: asyncio.Task[None] | None = None

    async def run(self, *command: Any) -> Any:
        """The answer to one command.

        Raises:
            RedisError: it failed, or it is not known whether it happened.
        """
        return (await self.run_together(command))[0]

    async def run_together(self, *commands: tuple[Any, ...]) -> list[Any]:
        """The answers to commands that travel in one piece. Raises as `run` does, for the first that failed."""
        loop = asyncio.get_running_loop()
        answers: list[asyncio.Future[Any]] = [loop.create_future() for _ in commands]
        self._waiting += zip(commands, answers, strict=True)
        if self._sender is None or self._sender.done():
            self._sender = asyncio.create_task(self._send())
        return await asyncio.gather(*answers)

    async def _send(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            async with self._redis.pipeline(transaction=False) as pipeline:
                try:
                    for command, _ in batch:
                        pipeline.execute_command(*command)
                    results = await pipeline.execute(raise_on_error=False)
                except Exception as error:  # noqa: BLE001  # whatever it is, nobody may wait for ever
                    results = [error] * len(batch)
            for (_, answer), result in zip(batch, results, strict=True):
                if answer.done():
                    continue  # Its writer was cancelled meanwhile.
                if isinstance(result, Exception):
                    answer.set_exception(result)
                else:
                    answer.set_result(result)
