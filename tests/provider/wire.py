"""HTTP/1.1 on a socket we fully control: what is written when, how the connection ends, and when the client left."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from typing import cast

import h11

RESET_GRACE = 0.02  # seconds


class Exchange:
    """One request, and the means to answer it."""

    def __init__(self, connection: "Connection", request: h11.Request) -> None:
        self.method = request.method.decode()
        self.path = request.target.decode().partition("?")[0]
        self.headers = {name.decode(): value.decode("latin-1") for name, value in request.headers}
        self.content = bytearray()
        self._connection = connection

    @property
    def client_is_gone(self) -> bool:
        return self._connection.is_lost

    def start(self, status: int, headers: Mapping[str, str]) -> None:
        head = [(name.encode(), value.encode()) for name, value in headers.items()]
        self._connection.emit(h11.Response(status_code=status, headers=head))

    async def send(self, content: bytes, *, size: int | None = None) -> None:
        """Written at once, or in writes (and HTTP chunks) of so many bytes."""
        step = size or max(len(content), 1)
        for start in range(0, len(content), step):
            self._connection.emit(h11.Data(data=content[start : start + step]))
            if size:
                await asyncio.sleep(0)
        await self._connection.drained()

    def finish(self) -> None:
        self._connection.emit(h11.EndOfMessage())
        self._connection.await_next_request()

    def hang_up(self) -> None:
        self._connection.close()

    async def reset(self) -> None:
        """Waits a moment first: a reset discards what the client has not read yet."""
        await asyncio.sleep(RESET_GRACE)
        self._connection.reset()


class Connection(asyncio.Protocol):
    """Reads at all times, so that a client's closing is seen at once and cancels the answer being written."""

    def __init__(self, respond: Callable[[Exchange], Awaitable[None]], connections: set["Connection"]) -> None:
        self.is_lost = False
        self._respond = respond
        self._connections = connections
        self._http = h11.Connection(h11.SERVER)
        self._exchange: Exchange | None = None
        self._answering: asyncio.Task[None] | None = None
        self._writable = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._writable.set()
        self._connections.add(self)

    def connection_lost(self, _exc: Exception | None) -> None:
        self.is_lost = True
        self._connections.discard(self)
        if self._answering is not None:
            self._answering.cancel()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        try:
            self._http.receive_data(data)
            self._read_events()
        except h11.RemoteProtocolError:
            self.close()

    def emit(self, event: h11.Response | h11.Data | h11.EndOfMessage) -> None:
        if content := self._http.send(event):
            self._transport.write(content)

    async def drained(self) -> None:
        await self._writable.wait()

    def await_next_request(self) -> None:
        if self._http.our_state is h11.MUST_CLOSE:
            return self.close()
        self._http.start_next_cycle()
        return self._read_events()

    def close(self) -> None:
        self._transport.close()

    def reset(self) -> None:
        lingering = struct.pack("ii", 1, 0)
        self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, lingering)
        self._transport.abort()

    async def abandon(self) -> None:
        """Stop answering, and only then close: nobody takes this for the client's doing."""
        if self._answering is not None:
            self._answering.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._answering
        self._transport.abort()

    def _read_events(self) -> None:
        while (event := self._http.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
            if isinstance(event, h11.Request):
                self._exchange = Exchange(self, event)
            elif isinstance(event, h11.Data) and self._exchange is not None:
                self._exchange.content += event.data
            elif isinstance(event, h11.EndOfMessage) and self._exchange is not None:
                self._answering = asyncio.ensure_future(self._respond(self._exchange))
            elif isinstance(event, h11.ConnectionClosed):
                return
