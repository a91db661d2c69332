"""Which tools a process has, whatever becomes of the servers'."""

import asyncio

import pytest
from pytest_django import Settings

from conversations.tools import registry
from conversations.tools.registry import OWN, Tools


@pytest.mark.parametrize("connect", ["nobody.installed.this", "os.path.join"])
def test_a_client_that_cannot_be_loaded_or_breaks_leaves_our_own_tools(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, connect: str
) -> None:
    settings.POCKETCHAT_MCP_SERVERS = '{"mcpServers": {"there": {"url": "http://127.0.0.1:9/mcp"}}}'
    monkeypatch.setattr(registry, "CONNECT", connect)

    async def offered() -> list[set[str]]:
        tools = Tools()
        return [set(await tools.all()) for _ in range(2)]

    own = {tool.spec.name for tool in OWN}
    assert asyncio.run(offered()) == [own, own]
