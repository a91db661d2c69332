"""Performs one answer: its delays, its pieces, its fault."""

import asyncio
import math
import time
from itertools import islice
from typing import Literal

from tests.provider.dialect import Answer, Dialect, to_json
from tests.provider.records import RecordedRequest
from tests.provider.replies import Failure, HangUp, Silence
from tests.provider.wire import Exchange

Ending = Literal["finished", "provider"]
JSON_HEAD = {"content-type": "application/json"}
EVENT_STREAM = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
KEEP_ALIVE = b": still working\n\n"
"""A comment, as servers send it that let a request wait in a queue."""


async def play(exchange: Exchange, dialect: Dialect, answer: Answer, record: RecordedRequest) -> Ending:
    """How the answer ended. Cancelled when the client closes the connection."""
    fault = answer.reply.fault
    await asyncio.sleep(answer.reply.head_delay)
    if isinstance(fault, Failure) and (fault.after is None or not answer.is_streamed):
        return await _refuse(exchange, dialect, answer, fault)
    if isinstance(fault, HangUp | Silence) and fault.after is None:
        return await _break_off(exchange, fault)
    if answer.is_streamed:
        return await _stream(exchange, dialect, answer, record)
    return await _send_whole(exchange, dialect, answer)


async def send_json(exchange: Exchange, status: int, content: object, *, headers: dict[str, str] | None = None) -> None:
    body = to_json(content).encode()
    exchange.start(status, JSON_HEAD | {"content-length": str(len(body))} | (headers or {}))
    await exchange.send(body)
    exchange.finish()


async def _refuse(exchange: Exchange, dialect: Dialect, answer: Answer, failure: Failure) -> Ending:
    refusal = dialect.refusal(failure, answer)
    await send_json(exchange, refusal.status, refusal.content, headers=_ids(answer) | _retry_headers(failure))
    return "finished"


async def _stream(exchange: Exchange, dialect: Dialect, answer: Answer, record: RecordedRequest) -> Ending:
    reply, stream = answer.reply, dialect.stream(answer)
    exchange.start(200, EVENT_STREAM | _ids(answer))
    limit = reply.fault.after if reply.fault else None
    await _rest(exchange, reply.first_delay, reply.keep_alive)
    if limit != 0:
        await exchange.send(stream.opening, size=reply.chunk_bytes)
    start = time.monotonic()
    for number, delta in enumerate(islice(stream.deltas, limit)):
        # Against the clock: a busy machine makes one delta late, not all that follow.
        await _rest(exchange, start + number * reply.chunk_delay - time.monotonic(), reply.keep_alive)
        await exchange.send(delta, size=reply.chunk_bytes)
        record.delta_times.append(time.monotonic())
    if isinstance(reply.fault, Silence):
        await _rest(exchange, math.inf, reply.keep_alive)
        return "provider"
    if isinstance(reply.fault, HangUp):
        return await _break_off(exchange, reply.fault)
    last = dialect.failure_event(reply.fault, answer) if reply.fault else stream.closing
    await exchange.send(last, size=reply.chunk_bytes)
    exchange.finish()
    return "finished"


async def _rest(exchange: Exchange, seconds: float, keep_alive: float | None) -> None:
    """Others get their turn even when there is no time left."""
    if keep_alive is None or seconds <= keep_alive:
        await _sleep(seconds)
        return
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        await asyncio.sleep(min(left, keep_alive))
        await exchange.send(KEEP_ALIVE)


async def _sleep(seconds: float) -> None:
    if math.isinf(seconds):
        await asyncio.get_running_loop().create_future()
    await asyncio.sleep(max(0.0, seconds))


async def _send_whole(exchange: Exchange, dialect: Dialect, answer: Answer) -> Ending:
    reply, body = answer.reply, to_json(dialect.message(answer)).encode()
    # Without a length the body goes out in HTTP chunks: it may break off, and its cuts are seen by the client.
    is_chunked = bool(reply.fault or reply.chunk_bytes)
    head = JSON_HEAD if is_chunked else JSON_HEAD | {"content-length": str(len(body))}
    exchange.start(200, head | _ids(answer))
    await asyncio.sleep(reply.first_delay + reply.chunk_delay * _count_deltas(dialect, answer))
    if isinstance(reply.fault, HangUp | Silence):
        await exchange.send(body[: len(body) // 2], size=reply.chunk_bytes)
        return await _break_off(exchange, reply.fault)
    await exchange.send(body, size=reply.chunk_bytes)
    exchange.finish()
    return "finished"


async def _break_off(exchange: Exchange, fault: HangUp | Silence) -> Ending:
    if isinstance(fault, Silence):
        await _sleep(math.inf)
    elif fault.how == "end" and fault.after is not None:
        exchange.finish()
    elif fault.how == "reset":
        await exchange.reset()
    else:
        exchange.hang_up()
    return "provider"


def _count_deltas(dialect: Dialect, answer: Answer) -> int:
    return sum(1 for _ in dialect.stream(answer).deltas)


def _ids(answer: Answer) -> dict[str, str]:
    """OpenAI reads one name, Anthropic the other."""
    return {"x-request-id": f"req_{answer.number}", "request-id": f"req_{answer.number}"}


def _retry_headers(failure: Failure) -> dict[str, str]:
    if failure.retry_after is None:
        return {}
    return {
        "retry-after": str(math.ceil(failure.retry_after)),
        "retry-after-ms": str(round(failure.retry_after * 1000)),
    }
