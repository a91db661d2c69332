"""What the administrator says of MCP servers: POCKETCHAT_MCP_SERVERS, a path or the JSON itself.

The shape is the one other clients use: {"mcpServers": {"name": {"command": …, "args": […], "env": {…}, "cwd": …}}} for
a program of this machine, {"url": …, "headers": {…}} for a server elsewhere. `${NAME}` in a value stands for a variable
of the environment, so that keys need not stand in the file.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from conversations.providers.json_setting import BadSetting, document_in

NAME = re.compile(r"[A-Za-z0-9-]{1,24}")
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class Server:
    """One server: a `command` to start, or a `url`. Arguments, variables and headers may hold keys: none is shown."""

    name: str
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


def configured_servers(setting: str) -> tuple[Server, ...]:
    """Read the setting; an empty one names no server.

    Raises:
        BadSetting
    """
    document = document_in(setting)
    if document is None:
        return ()
    named = document.get("mcpServers") if isinstance(document, dict) else None
    if not isinstance(named, dict):
        raise BadSetting('It has no object "mcpServers".')
    return tuple(_server(name, entry) for name, entry in named.items())


def _server(name: str, entry: Any) -> Server:
    if not NAME.fullmatch(name):
        raise BadSetting(f"The name {name!r} must be letters, digits and hyphens, at most 24 of them.")
    if not isinstance(entry, dict) or not (entry.get("command") or entry.get("url")):
        raise BadSetting(f'The server {name} has neither "command" nor "url".')
    server = Server(
        name=name,
        command=_text(name, "command", entry.get("command") or ""),
        args=tuple(_text(name, "args", value) for value in _of_kind(name, "args", entry, list)),
        env=_texts(name, "env", entry),
        cwd=_text(name, "cwd", entry["cwd"]) if entry.get("cwd") else None,
        url=_text(name, "url", entry.get("url") or ""),
        headers=_texts(name, "headers", entry),
    )
    if not server.command and not _is_address(server.url):
        raise BadSetting(f'The "url" of the server {name} is no address.')
    return server


def _is_address(url: str) -> bool:
    try:
        address = urlsplit(url)
    except ValueError:
        return False
    return address.scheme in ("http", "https") and bool(address.hostname)


def _of_kind(name: str, key: str, entry: dict[str, Any], kind: type) -> Any:
    value = entry.get(key) or kind()
    if not isinstance(value, kind):
        raise BadSetting(f'"{key}" of the server {name} must be {"a list" if kind is list else "an object"}.')
    return value


def _texts(name: str, key: str, entry: dict[str, Any]) -> dict[str, str]:
    return {inner: _text(name, key, value) for inner, value in _of_kind(name, key, entry, dict).items()}


def _text(name: str, key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise BadSetting(f'"{key}" of the server {name} holds something that is no text.')

    def variable(found: re.Match[str]) -> str:
        default = found[2]
        if (given := os.environ.get(found[1], default)) is None:
            raise BadSetting(f"The variable {found[1]} that the server {name} needs is not set.")
        return given

    return VARIABLE.sub(variable, value)
