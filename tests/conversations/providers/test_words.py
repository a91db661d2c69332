"""The short way for words: what comes is what would have come without it, and it is taken."""

import asyncio
import json
import random
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby

import pytest
from httpx2 import AsyncByteStream, ReadError

from conversations.providers.chat import StreamedChatModel, connect
from conversations.providers.errors import ProviderError
from conversations.providers.values import (
    ChatEvent,
    ChatMessage,
    ChatModelInfo,
    ChatRequest,
    Finished,
    TextDelta,
    ThinkingDelta,
)
from conversations.providers.words import PLACES, Answer
from tests.conversations.providers.test_chat import model_of
from tests.provider import Reply, ScriptedProvider, ToolCall

REQUEST = ChatRequest((ChatMessage("user", "Why?"),), max_tokens=100)
PIECES = (
    "a",
    " word",
    "<",
    "<think>",
    "</think>",
    "\n",
    " ",
    "👩‍🚀",
    "\u200d",
    "[",
    "INST]",
    "data:",
    "\n\ndata: {}",
    "日本",
)


async def said(model: StreamedChatModel) -> list[ChatEvent]:
    async with model.connections():
        return [event async for event in model.stream(REQUEST)]


def in_runs(events: list[ChatEvent]) -> list[object]:
    """Pieces may be cut elsewhere; what they say, and in which order, may not differ."""
    told: list[object] = []
    for kind, run in groupby(events, type):
        if kind in (TextDelta, ThinkingDelta):
            told.append((kind, "".join(one.text for one in run if isinstance(one, TextDelta | ThinkingDelta))))
        else:
            told += [(one.output_tokens, one.native.text) if isinstance(one, Finished) else one for one in run]  # type: ignore[attr-defined]  # pydantic-ai's own
    return told


@pytest.mark.parametrize("seed", range(8))
def test_nothing_is_said_otherwise_than_on_the_long_way(dialect: str, provider: ScriptedProvider, seed: int) -> None:
    chance = random.Random(seed)
    calls = (ToolCall("now", id="call_1"),) if chance.random() < 0.5 else ()
    deltas = tuple(chance.choices(PIECES, [20, 20, *[1] * 12], k=60))
    size = chance.choice([None, 1, 7, 400])
    reasoning = chance.choice(["", "Let me think. "])
    provider.default = Reply(deltas=deltas, reasoning=reasoning, tool_calls=calls, chunk_bytes=size)

    def through(*, short: bool) -> list[object]:
        model = model_of(dialect, provider)
        if not short:
            model._client.event_hooks["response"].clear()
        return in_runs(asyncio.run(said(model)))

    assert through(short=True) == through(short=False)


class Body(AsyncByteStream):
    def __init__(self, *chunks: bytes, error: Exception | None = None) -> None:
        self.chunks = chunks
        self.error = error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            yield chunk
        if self.error:
            raise self.error


def piece(words: str, **more: object) -> bytes:
    chunk = {"id": "1", "choices": [{"index": 0, "delta": {"content": words}, "finish_reason": None}], **more}
    return f"data: {json.dumps(chunk)}\n\n".encode()


def words_in(event: bytes) -> str:
    words: str = json.loads(event.removeprefix(b"data:"))["choices"][0]["delta"]["content"]
    return words


def answer_of(*chunks: bytes, error: Exception | None = None) -> Answer:
    return Answer(Body(*chunks, error=error), PLACES["/chat/completions"])


def test_pieces_like_one_that_was_only_words_are_read_once_and_handed_over_together() -> None:
    async def read() -> None:
        answer = answer_of(piece("one "), piece("two "), piece("three ") + piece("four "), piece("five", usage={}))
        reader = aiter(answer)
        assert words_in(await anext(reader)) == answer.new_in("one ")
        assert [await answer.words() for _ in range(3)] == ["two ", "three four ", ""]

        assert words_in(await anext(reader)) == "two three four "
        assert answer.new_in("two three four ") == ""
        assert words_in(await anext(reader)) == "five"
        assert await anext(reader, None) is None

    asyncio.run(read())


@pytest.mark.parametrize("told", ["", "One ", "one"])
def test_words_that_were_not_handed_on_as_they_were_keep_to_the_long_way(told: str) -> None:
    async def read() -> None:
        answer = answer_of(piece("one "), piece("two "))
        reader = aiter(answer)
        await anext(reader)
        answer.new_in(told)
        assert await answer.words() == ""
        assert words_in(await anext(reader)) == "two "

    asyncio.run(read())


def test_what_breaks_an_answer_off_is_heard_after_its_words() -> None:
    async def read() -> None:
        answer = answer_of(piece("one "), piece("two "), error=ReadError("gone"))
        reader = aiter(answer)
        await anext(reader)
        answer.new_in("one ")
        assert [await answer.words(), await answer.words()] == ["two ", ""]
        assert words_in(await anext(reader)) == "two "
        with pytest.raises(ReadError):
            await anext(reader)

    asyncio.run(read())


@contextmanager
def saying(*chunks: bytes, drip: bytes = b"", every: float = 0.05) -> Iterator[str]:
    """A server of OpenAI's dialect that answers with these bytes, and goes on with `drip`; yields its address."""

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            with suppress(OSError):
                for chunk in chunks:
                    self.wfile.write(chunk)
                while drip:
                    self.wfile.write(drip)
                    time.sleep(every)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name of the base class
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        serving.join()


def told_by(url: str, *, silence: float = 5.0) -> list[ChatEvent]:
    info = ChatModelInfo(name="openai:scripted", label="scripted", provider="openai", window=8192)
    return asyncio.run(said(connect(info, base_url=url, key="sk-test", silence=silence)))


def test_bytes_that_never_become_an_event_do_not_hold_an_answer_for_ever() -> None:
    with saying(piece("one "), drip=b"x") as url:
        begun = time.monotonic()
        with pytest.raises(ProviderError, match="timed_out"):
            told_by(url, silence=0.1)
        assert time.monotonic() - begun < 5


def test_an_event_nested_deeper_than_anybody_reads_is_garbled() -> None:
    with (
        saying(piece("one "), b"data: " + b"[" * 100_000 + b"\n\n") as url,
        pytest.raises(ProviderError, match="garbled"),
    ):
        told_by(url)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_tokens_are_counted_in_whole_numbers() -> None:
    """Anything else makes a record that nobody reads back."""
    end = {"id": "1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    usage = {"id": "1", "choices": [], "usage": {"prompt_tokens": 12.5, "completion_tokens": 0.5, "total_tokens": 13}}
    with saying(piece("one"), *(f"data: {json.dumps(one)}\n\n".encode() for one in (end, usage))) as url:
        finished = told_by(url)[-1]
    assert isinstance(finished, Finished)
    assert (repr(finished.input_tokens), finished.output_tokens) == ("12", None)
