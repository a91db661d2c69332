"""`python -m tests.mcp_server stdio | http PORT`: an MCP server of its own process, with tools of every temper."""

import asyncio
import os
import sys

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("weather")


@server.tool()
def forecast(city: str) -> str:
    """The weather of tomorrow."""
    sys.stderr.write(f"asked for secret {city}\n")
    return f"Sunny in {city}"


@server.tool()
def environment(name: str) -> str:
    """What a variable holds here."""
    return os.environ.get(name, "nothing")


@server.tool()
def much() -> str:
    """More than anybody reads."""
    return "word " * 20_000


@server.tool()
def refuse() -> str:
    """Always fails."""
    raise ToolError("The secret station is closed.")


@server.tool()
async def hang() -> str:
    """Never answers."""
    await asyncio.sleep(3600)
    return ""


@server.tool()
async def slow(seconds: float, word: str) -> str:
    """Answers after a while."""
    await asyncio.sleep(seconds)
    return word


def main() -> None:
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", port=int(sys.argv[2]))


if __name__ == "__main__":
    main()
