"""What an administrator may write of MCP servers."""

import json
from pathlib import Path
from typing import Any

import pytest

from conversations.providers.json_setting import BadSetting
from conversations.providers.mcp_servers import configured_servers


def servers(**entries: Any) -> str:
    return json.dumps({"mcpServers": entries})


def test_empty_means_none() -> None:
    assert configured_servers("") == configured_servers("  ") == ()


def test_it_is_the_json_itself_or_a_file_of_it(tmp_path: Path) -> None:
    setting = servers(files={"command": "npx", "args": ["-y", "x"]}, weather={"url": "https://example.org/mcp"})
    (tmp_path / "servers.json").write_text(setting)
    inline, filed = configured_servers(setting), configured_servers(str(tmp_path / "servers.json"))
    assert inline == filed
    assert [(server.name, server.command, server.args, server.url) for server in inline] == [
        ("files", "npx", ("-y", "x"), ""),
        ("weather", "", (), "https://example.org/mcp"),
    ]


def test_variables_stand_in_for_keys_and_no_key_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEATHER_KEY", "hunter2")
    entry = {"url": "https://example.org/${PLACE:-mcp}", "headers": {"Authorization": "Bearer ${WEATHER_KEY}"}}
    server = configured_servers(servers(weather=entry))[0]
    assert (server.url, server.headers) == ("https://example.org/mcp", {"Authorization": "Bearer hunter2"})
    assert "hunter2" not in repr(server)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("{", "not valid JSON"),
        ("{}", "mcpServers"),
        ('{"mcpServers": []}', "mcpServers"),
        ("/nonexistent/servers.json", "cannot be read"),
        ("{" + '"a":[' * 100_000, "not valid JSON"),
        (servers(x={"url": "http://[::1"}), "no address"),
        (servers(x={}), "neither"),
        (servers(x=[]), "neither"),
        (servers(x={"url": "example.org"}), "no address"),
        (servers(x={"url": "ftp://example.org"}), "no address"),
        (servers(x={"command": "run", "args": "a b"}), "must be a list"),
        (servers(x={"command": "run", "args": [1]}), "no text"),
        (servers(x={"command": "run", "env": ["A"]}), '"env"'),
        (servers(x={"command": "run", "env": {"A": "${NOT_SET_ANYWHERE}"}}), "NOT_SET_ANYWHERE"),
        (servers(**{"bad name": {"command": "run"}}), "letters"),
    ],
)
def test_what_cannot_be_meant_is_said(setting: str, words: str) -> None:
    with pytest.raises(BadSetting, match=words):
        configured_servers(setting)


def test_a_file_in_another_encoding_is_refused_in_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "servers.json"
    file.write_bytes(servers(x={"command": "café"}).replace("\\u00e9", "é").encode("latin-1"))
    with pytest.raises(BadSetting, match="not in UTF-8"):
        configured_servers(str(file))
