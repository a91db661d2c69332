"""Tools of MCP servers, through pydantic-ai's client. A server that is away takes its tools away, nothing else."""

import asyncio
import json
import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog
from fastmcp.client.transports import StdioTransport
from pydantic_ai.exceptions import ModelRetry, ToolFailed
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import BinaryContent

from conversations.providers.errors import ToolRefused
from conversations.providers.mcp_servers import Server
from conversations.providers.values import ToolSpec, safe_name

log = structlog.get_logger(__name__)

LIST_SECONDS = 8.0
"""A server may take to start and to say what it has."""

CLOSE_SECONDS = 2.0

TALKATIVE = ("fastmcp", "mcp", "mcp.client", "client")
"""Loggers that would write what servers say."""


@dataclass(frozen=True, slots=True)
class RemoteCall:
    """A tool of a server, named as the model knows it."""

    spec: ToolSpec
    _toolset: "MCPToolset[Any]"
    _name: str

    async def __call__(self, arguments: Mapping[str, Any]) -> str:
        """What the tool returned, as text.

        Raises:
            ToolRefused: the tool refused.
        """
        try:
            return _as_text(await self._toolset.direct_call_tool(self._name, dict(arguments)))
        except (ModelRetry, ToolFailed) as refusal:
            raise ToolRefused(refusal.message) from refusal


async def connect(servers: Sequence[Server]) -> list[RemoteCall]:
    """The tools of all servers that answer in time; for each of the others one line in the log."""
    _silence()
    listed = await asyncio.gather(*(_tools_of(server) for server in servers))
    return [call for calls in listed for call in calls]


async def _tools_of(server: Server) -> list[RemoteCall]:
    toolset = _toolset(server)
    try:
        async with asyncio.timeout(LIST_SECONDS):
            tools = await toolset.list_tools()
    except Exception as error:  # noqa: BLE001  # a program of somebody else's: whatever it does, replies go on
        log.warning("mcp_server_not_used", server=server.name, error=type(error).__name__)
        await _closed(toolset)
        return []
    log.info("mcp_server_used", server=server.name, tools=len(tools))
    return [RemoteCall(_spec(server, tool), toolset, tool.name) for tool in tools]


async def _closed(toolset: "MCPToolset[Any]") -> None:
    """A program that was started and said nothing shall not stay."""
    with suppress(Exception):
        async with asyncio.timeout(CLOSE_SECONDS):
            await toolset.client.transport.close()


def _toolset(server: Server) -> "MCPToolset[Any]":
    """Connects when it is used. A program is started once and kept; it sees what we hand it and little else."""
    if server.command:
        # What a server prints may quote what it was asked.
        program = StdioTransport(
            server.command, list(server.args), env=dict(server.env), cwd=server.cwd, log_file=Path(os.devnull)
        )
        return MCPToolset(program, id=server.name, init_timeout=LIST_SECONDS, log_handler=_ignore)
    return MCPToolset(
        server.url,
        id=server.name,
        headers=dict(server.headers) or None,
        init_timeout=LIST_SECONDS,
        log_handler=_ignore,
    )


def _spec(server: Server, tool: Any) -> ToolSpec:
    return ToolSpec(
        name=safe_name(f"{server.name}_{tool.name}"),
        description=tool.description or "",
        parameters=tool.input_schema or {"type": "object", "properties": {}},
    )


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, BinaryContent):
        return f"[{value.media_type}, {len(value.data):,} bytes, which cannot be shown here]"
    if isinstance(value, list):
        return "\n".join(_as_text(part) for part in value)
    return json.dumps(value, ensure_ascii=False, default=str)


async def _ignore(_: object) -> None:
    """A server's log may quote what it was asked."""


def _silence() -> None:
    """fastmcp gives itself a handler when it is loaded."""
    for name in TALKATIVE:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [logging.NullHandler()], False
