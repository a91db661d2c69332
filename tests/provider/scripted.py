"""The provider inside a test: a thread with an event loop of its own, so the test may block or run its own loop."""

import asyncio
import threading
from concurrent.futures import Future
from types import TracebackType
from typing import Self

from tests.provider.embeddings import Embeddings
from tests.provider.records import RecordedRequest, RequestLog
from tests.provider.replies import Reply
from tests.provider.script import Match, Script
from tests.provider.server import Server

DEFAULT_REPLY = Reply("This is the scripted answer.")
MODELS = ("scripted-small", "scripted-large")


class ScriptedProvider:
    """
    with ScriptedProvider() as provider:
        provider.script(Reply("Hello", chunk_delay=0.05))
        ...  # ask at provider.openai_url or provider.anthropic_url
        assert provider.requests[0].wait_until_ended() == "finished"
    """

    def __init__(self, *, default: Reply = DEFAULT_REPLY, models: tuple[str, ...] = MODELS, port: int = 0) -> None:
        self._script = Script(default)
        self._log = RequestLog()
        self._server = Server(self._script, self._log, models=models)
        self._port = port
        self._listening: Future[tuple[int, asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._thread = threading.Thread(target=self._run, name="scripted provider", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._port, self._loop, self._stop = self._listening.result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raises what a rule's function raised, unless the test already fails for a reason of its own."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if fault is None and self._server.faults:
            raise self._server.faults[0]

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def openai_url(self) -> str:
        return f"{self.base_url}/v1"

    @property
    def anthropic_url(self) -> str:
        """Anthropic's SDK adds the /v1 itself."""
        return self.base_url

    @property
    def requests(self) -> list[RecordedRequest]:
        """Every request to a model so far, oldest first."""
        return self._log.all()

    @property
    def open_connections(self) -> int:
        return self._server.open_connections

    @property
    def embeddings(self) -> Embeddings:
        """What was asked of `/embeddings`, and how it answers; none of it counts among `requests`."""
        return self._server.embeddings

    @property
    def default(self) -> Reply:
        return self._script.default

    @default.setter
    def default(self, reply: Reply) -> None:
        self._script.default = reply

    def script(self, *replies: Reply) -> None:
        """Each answers one request, in order. A client's retry is a request of its own."""
        self._script.add(*replies)

    def on(self, match: Match, *replies: Reply) -> None:
        """Answer what matches, in order; the last reply repeats. A text is looked for in the newest question."""
        self._script.on(match, *replies)

    def wait_for_requests(self, count: int, timeout: float = 5.0) -> list[RecordedRequest]:
        """Blocks until so many requests have come in all. Raises TimeoutError."""
        return self._log.wait_for(count, timeout)

    def forget(self) -> None:
        """Drop the record, the queue and the rules."""
        self._log.clear()
        self._script.clear()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        stop = asyncio.Event()
        try:
            port = await self._server.listen(self._port)
        except OSError as fault:
            self._listening.set_exception(fault)
            return
        self._listening.set_result((port, asyncio.get_running_loop(), stop))
        await stop.wait()
        await self._server.close()
