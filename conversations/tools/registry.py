"""The tools of this process: our own, and those of the servers the administrator has named.

To add a tool: write a `Tool` in a module of its own and name it in `OWN`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from django.conf import settings
from django.utils.module_loading import import_string

from conversations.database import in_thread
from conversations.providers.errors import ToolRefused
from conversations.providers.json_setting import BadSetting
from conversations.providers.mcp_servers import Server, configured_servers
from conversations.providers.values import ToolSpec
from conversations.tools.clock import CurrentTime
from conversations.tools.search import SearchConversation
from conversations.tools.values import Arguments, Scene, Tool, ToolFault

log = structlog.get_logger(__name__)

OWN: tuple[Tool, ...] = (SearchConversation(), CurrentTime())

CONNECT = "conversations.providers.mcp.connect"
"""Loaded only where servers are named: the client takes two seconds to load."""


class RemoteTool:
    """A tool of a server. Nothing of the turn leaves us but the arguments."""

    def __init__(self, remote: Any) -> None:
        self.spec: ToolSpec = remote.spec
        self._remote = remote

    async def run(self, arguments: Arguments, scene: Scene) -> str:  # noqa: ARG002  # see above
        try:
            text: str = await self._remote(arguments)
        except ToolRefused as refusal:
            raise ToolFault(str(refusal)) from refusal
        return text


class Tools:
    """Our own tools, and those of the servers, which are listed once."""

    def __init__(self) -> None:
        self._listing: asyncio.Task[dict[str, Tool]] | None = None

    async def all(self) -> Mapping[str, Tool]:
        """By name. The first to ask waits for the servers' lists."""
        if self._listing is None:
            self._listing = asyncio.create_task(_listed())
        # Shielded: whoever asked first may be stopped meanwhile, and the others wait for the same list.
        return await asyncio.shield(self._listing)


async def _listed() -> dict[str, Tool]:
    tools: dict[str, Tool] = {tool.spec.name: tool for tool in OWN}
    try:
        servers = configured_servers(settings.POCKETCHAT_MCP_SERVERS)
    except BadSetting:  # The system check says why; perhaps the file was changed since.
        log.warning("mcp_servers_not_read")
        servers = ()
    for remote in await _connected(servers) if servers else []:
        tools.setdefault(remote.spec.name, RemoteTool(remote))
    return tools


async def _connected(servers: Sequence[Server]) -> list[Any]:
    try:
        connect = await in_thread(import_string, CONNECT)
        remotes: list[Any] = await connect(servers)
    except Exception as error:  # noqa: BLE001  # a client that is not installed, or breaks: our own tools are there
        log.warning("mcp_tools_not_listed", error=type(error).__name__)
        return []
    return remotes
