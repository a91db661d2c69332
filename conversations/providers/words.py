"""The words of a streamed answer by the shortest way: past the SDK, which reads them afterwards in one piece.

An answer is hundreds of pieces that differ in their words alone, and for each of them the SDK and pydantic-ai take
more processor time than everything else together. So pieces like one that pydantic-ai has shown to be nothing but words
are read here; when something else comes, it gets what it missed as one piece, and then that. What an answer means
(calls, reasoning, usage, errors, the end) is still for pydantic-ai to say.
"""

import json
import re
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from httpx2 import AsyncByteStream, AsyncClient, Response

PLACES: dict[str, tuple[str | int, ...]] = {
    "/chat/completions": ("choices", 0, "delta", "content"),
    "/messages": ("delta", "text"),
}
"""Where the words stand in an event, by the end of the address."""

PADDING = "obfuscation"
"""What OpenAI hides the length of a word with: different in each event, and nobody reads it."""

END_OF_EVENT = re.compile(rb"\r\n\r\n|\n\n|\r\r")

TELLING = re.compile("[<\u200b-\u200d\u2060\ufeff\ud800-\udfff]")
"""What may be more than a word: the beginning of a tag, a joiner that pydantic-ai takes out again, half a character."""

Frame = tuple[bytes, Any]
"""An event without its words."""


class Answer(AsyncByteStream):
    """The body of a streamed answer. pydantic-ai reads it as any other, and `words` whatever it need not see at once.

    Nothing is read twice and nothing out of turn, as long as one coroutine does both, one after the other.
    """

    def __init__(self, body: AsyncByteStream, place: tuple[str | int, ...]) -> None:
        self._body = body
        self._place = place
        self._chunks = aiter(body)
        self._rest = b""
        self._events: deque[bytes] = deque()
        self._has_ended = False
        self._error: Exception | None = None
        self._frame: Frame | None = None
        """Of the event that pydantic-ai read last, when it may be nothing but words."""
        self._handed_over = ""
        """The words of that event."""
        self._is_open = False
        """It was nothing but words."""
        self._said: list[str] = []
        """Words that pydantic-ai has not read yet."""
        self._repeated = 0
        """Characters it has read, and has not told of yet."""

    async def words(self) -> str:
        """The next words; empty when there is something else for pydantic-ai to read first."""
        words = ""
        while self._is_open and not words:
            if not self._events and not await self._read_on():
                break
            while self._events and (next_words := self._words_of(self._events[0])):
                words += next_words
                self._events.popleft()
            self._is_open = not self._events
        if words:
            self._said.append(words)
        return words

    def new_in(self, words: str) -> str:
        """Of words that pydantic-ai tells of, those that `words` has not given out."""
        new = words[self._repeated :]
        self._repeated -= len(words) - len(new)
        self._is_open = bool(new) and new == self._handed_over
        return new

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while self._events or await self._read_on():
            if self._said:
                yield self._in_one_piece()
            event = self._events.popleft()
            self._frame, self._handed_over = self._parted(event)
            yield event
        if self._said:
            yield self._in_one_piece()
        if self._error:
            raise self._error

    async def aclose(self) -> None:
        if isinstance(self._chunks, AsyncGenerator):
            await self._chunks.aclose()
        await self._body.aclose()

    async def _read_on(self) -> bool:
        """Whether there is an event to look at. What breaks the reading off is for pydantic-ai to hear, in its turn."""
        while not self._events and not self._has_ended:
            try:
                *events, self._rest = _split(self._rest + await anext(self._chunks))
                self._events.extend(events)
            except StopAsyncIteration:
                self._has_ended = True
            except Exception as error:  # noqa: BLE001  # raised again where the body is read
                self._has_ended, self._error = True, error
            if self._has_ended and self._rest:
                self._events.append(self._rest)
                self._rest = b""
        return bool(self._events)

    def _words_of(self, event: bytes) -> str:
        """The words of an event that differs in nothing else from the last one; empty for any other."""
        frame, words = self._parted(event)
        return words if frame == self._frame else ""

    def _parted(self, event: bytes) -> tuple[Frame | None, str]:
        """The event without its words, and them; nothing of an event that may be more."""
        head, _, data = event.partition(b"data:")
        try:
            content = json.loads(data)
            words = self._put("", into=content)
            content.pop(PADDING, None)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return None, ""
        if not isinstance(words, str) or TELLING.search(words):
            return None, ""
        return (head, content), words

    def _in_one_piece(self) -> bytes:
        assert self._frame
        head, content = self._frame
        words = "".join(self._said)
        self._said.clear()
        self._repeated += len(words)
        self._put(words, into=content)
        return head + b"data: " + json.dumps(content).encode() + b"\n\n"

    def _put(self, words: str, *, into: Any) -> Any:
        """Returns what stood there."""
        *way, last = self._place
        for step in way:
            into = into[step]
        stood, into[last] = into[last], words
        return stood


def _split(content: bytes) -> list[bytes]:
    """Whole events, and at the end what there is of the next one."""
    ends = [0, *(found.end() for found in END_OF_EVENT.finditer(content))]
    return [content[start:end] for start, end in zip(ends, [*ends[1:], len(content)], strict=True)]


_answers: ContextVar[list[Answer] | None] = ContextVar("answers", default=None)


@contextmanager
def collected() -> Iterator[list[Answer]]:
    """Collects the streamed answers to requests that are sent meanwhile."""
    answers: list[Answer] = []
    token = _answers.set(answers)
    try:
        yield answers
    finally:
        _answers.reset(token)


def watch(client: AsyncClient) -> AsyncClient:
    """Have its streamed answers taken."""
    client.event_hooks["response"].append(_take)
    return client


async def _take(response: Response) -> None:
    answers = _answers.get()
    place = next((place for end, place in PLACES.items() if response.request.url.path.endswith(end)), None)
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    is_plain = response.headers.get("content-encoding", "identity") == "identity"
    if answers is None or place is None or not is_stream or not is_plain:
        return
    assert isinstance(response.stream, AsyncByteStream)
    response.stream = Answer(response.stream, place)
    answers.append(response.stream)
