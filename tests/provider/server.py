"""Takes requests in, finds the reply that is due, has it played and writes down how that went."""

import asyncio
import json
from functools import partial
from typing import Any

from tests.provider import anthropic, openai
from tests.provider.control import Control
from tests.provider.dialect import Answer, Dialect
from tests.provider.embeddings import Embeddings
from tests.provider.play import play, send_json
from tests.provider.records import EndedBy, RequestLog
from tests.provider.replies import Failure, Reply
from tests.provider.script import Script
from tests.provider.wire import Connection, Exchange

# With or without /v1 in front: the two SDKs do not agree on whose part that is.
DIALECTS: dict[str, Dialect] = {"/chat/completions": openai, "/messages": anthropic}
UNREADABLE = Reply(fault=Failure("bad_request", message="The body is not a JSON object."))


class Server:
    """`faults` holds what went wrong in the script's own code, such as a rule's function that raised."""

    def __init__(self, script: Script, log: RequestLog, *, models: tuple[str, ...]) -> None:
        self.faults: list[Exception] = []
        self.embeddings = Embeddings()
        self._script = script
        self._log = log
        self._models = models
        self._control = Control(script, log)
        self._connections: set[Connection] = set()

    @property
    def open_connections(self) -> int:
        return len(self._connections)

    async def listen(self, port: int) -> int:
        """The port: the given one, or for 0 any that is free."""
        loop = asyncio.get_running_loop()
        make_connection = partial(Connection, self._respond, self._connections)
        self._listener = await loop.create_server(make_connection, "127.0.0.1", port, backlog=1024)
        listening: int = self._listener.sockets[0].getsockname()[1]
        return listening

    async def close(self) -> None:
        self._listener.close()
        await asyncio.gather(*(connection.abandon() for connection in list(self._connections)))
        # Transports close their sockets one turn of the loop after they were aborted.
        await asyncio.sleep(0)
        await self._listener.wait_closed()

    async def _respond(self, exchange: Exchange) -> None:
        try:
            await self._route(exchange)
        except Exception as fault:  # noqa: BLE001 - the edge: a rule is any function, its fault belongs to the test
            self.faults.append(fault)
            exchange.hang_up()

    async def _route(self, exchange: Exchange) -> None:
        method, path = exchange.method, exchange.path
        dialect = next((DIALECTS[end] for end in DIALECTS if path.endswith(end)), None)
        if method == "POST" and dialect is not None:
            await self._answer(exchange, dialect)
        elif method == "POST" and path.endswith("/embeddings"):
            await self.embeddings.answer(exchange, _parsed(exchange.content) or {})
        elif method == "GET" and path.endswith("/models"):
            named = anthropic if "anthropic-version" in exchange.headers else openai
            await send_json(exchange, 200, named.model_list(self._models))
        else:
            await send_json(exchange, *self._control.call(method, path, bytes(exchange.content)))

    async def _answer(self, exchange: Exchange, dialect: Dialect) -> None:
        body = _parsed(exchange.content)
        record = self._log.open(path=exchange.path, headers=exchange.headers, body=body or {})
        ended_by: EndedBy = "provider"
        try:
            reply = UNREADABLE if body is None else self._reply_to(body, dialect)
            ended_by = await play(exchange, dialect, Answer(reply, body or {}, record.number), record)
        except asyncio.CancelledError:
            ended_by = "client" if exchange.client_is_gone else "provider"
            raise
        finally:
            record.end(ended_by)

    def _reply_to(self, body: dict[str, Any], dialect: Dialect) -> Reply:
        """A request that a real provider refuses takes no reply from the script."""
        if wrong := dialect.broken_rule(body):
            return Reply(fault=Failure("bad_request", message=wrong))
        return self._script.next_reply(body)


def _parsed(content: bytearray) -> dict[str, Any] | None:
    """None stands for a body that is not a JSON object."""
    try:
        body = json.loads(content)
    except ValueError:
        return None
    return body if isinstance(body, dict) else None
