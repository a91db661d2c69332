"""Settings that cannot be meant are refused, and each refusal names the setting."""

from typing import Any

import pytest
from django.core.checks import run_checks

from pocketchat.checks import TAG

OWN_SERVER = {"POCKETCHAT_EMBEDDER_BASE_URL": "http://localhost:11434/v1"}


def found() -> list[str | None]:
    return [message.id for message in run_checks(tags=[TAG])]


def test_the_settings_as_they_come_are_sound() -> None:
    assert found() == []


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"POCKETCHAT_URL": "http://chat.example.org"}, "pocketchat.E001"),
        ({"POCKETCHAT_STREAM_LIFE": 0}, "pocketchat.E002"),
        ({"POCKETCHAT_HISTORY_TOKENS": -1}, "pocketchat.E002"),
        ({"POCKETCHAT_TOOL_ROUNDS": 0}, "pocketchat.E002"),
        ({"POCKETCHAT_TOOL_ROUNDS": 21}, "pocketchat.E002"),
        ({"POCKETCHAT_MCP_SERVERS": '{"mcpServers": {"x": {}}}'}, "pocketchat.E009"),
        ({"POCKETCHAT_LEASE": 1.9, "POCKETCHAT_HEARTBEAT": 0.5}, "pocketchat.E003"),
        ({"POCKETCHAT_CONTEXT_WINDOW": 2000, "POCKETCHAT_REPLY_TOKENS": 2000}, "pocketchat.E004"),
        ({"POCKETCHAT_MODELS": "{"}, "pocketchat.E010"),
        ({"POCKETCHAT_MODELS": '{"openai:x": {"window": -1}}'}, "pocketchat.E010"),
        ({"POCKETCHAT_MODELS": '{"openai:x": {"window": 4000, "reply": 3000, "system": 950}}'}, "pocketchat.E011"),
        ({"POCKETCHAT_MODELS": '{"openai:x": {"reply": 8192}}'}, "pocketchat.E011"),
        ({"POCKETCHAT_CONTEXT_POLICY": "pair"}, "pocketchat.E012"),
        ({"POCKETCHAT_SYSTEM_PROMPT": "word " * 2000}, "pocketchat.E013"),
        ({"POCKETCHAT_CHAT_MODEL": "gpt-5"}, "pocketchat.E005"),
        ({"POCKETCHAT_RETRIEVED_TOKENS": 79}, "pocketchat.W014"),
        ({"POCKETCHAT_CHAT_API_KEY": "key"}, "pocketchat.E006"),
        ({"POCKETCHAT_SMALL_MODEL": "gpt-5-nano"}, "pocketchat.E005"),
        ({"POCKETCHAT_SMALL_MODEL": "openai:gpt-5-nano"}, "pocketchat.E008"),
        (
            {
                "POCKETCHAT_CHAT_MODEL": "anthropic:claude-opus-4-8",
                "POCKETCHAT_CHAT_API_KEY": "key",
                "POCKETCHAT_SMALL_MODEL": "openai:gpt-5-nano",
            },
            "pocketchat.E008",
        ),
        ({"POCKETCHAT_REPLIES_A_PERSON": 0}, "pocketchat.E002"),
        ({"POCKETCHAT_DATABASE_POOL": -1}, "pocketchat.E002"),
        ({"POCKETCHAT_CHAT_MODEL": "openai:gpt-5"}, "pocketchat.E008"),
        ({"POCKETCHAT_CHAT_MODEL": "anthropic:claude-opus-4-8"}, "pocketchat.E008"),
        ({"POCKETCHAT_CHAT_MODEL": "openai:x", "POCKETCHAT_CHAT_BASE_URL": "localhost:11434"}, "pocketchat.E007"),
        ({"POCKETCHAT_EMBEDDER_DIMENSIONS": -1, "POCKETCHAT_EMBEDDER": "a:b"} | OWN_SERVER, "pocketchat.E002"),
        ({"POCKETCHAT_EMBEDDER_API_KEY": "key"}, "pocketchat.E014"),
        ({"POCKETCHAT_EMBEDDER": "openai:x", "POCKETCHAT_EMBEDDER_BASE_URL": "localhost:11434"}, "pocketchat.E015"),
        ({"POCKETCHAT_EMBEDDER": "text-embedding-3-small"}, "pocketchat.E016"),
        ({"POCKETCHAT_EMBEDDER": "voyageai:voyage-3"}, "pocketchat.E016"),
        ({"POCKETCHAT_EMBEDDER": "openai:text-embedding-3-small"}, "pocketchat.E017"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    values: dict[str, Any], expected: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    for name, value in values.items():
        setattr(settings, name, value)
    assert found() == [expected]


@pytest.mark.parametrize(
    "values",
    [
        {"POCKETCHAT_URL": "https://chat.example.org"},
        {"POCKETCHAT_URL": "http://[::1]:8000"},
        {"POCKETCHAT_URL": "http://192.168.0.7:8000", "POCKETCHAT_ALLOW_HTTP": True},
        {"POCKETCHAT_LEASE": 2.0, "POCKETCHAT_HEARTBEAT": 0.5},
        {"POCKETCHAT_EMBEDDER": "ollama:nomic-embed-text", **OWN_SERVER},
        {"POCKETCHAT_EMBEDDER": "openai:x", "POCKETCHAT_EMBEDDER_API_KEY": "key"},
        {"POCKETCHAT_CONTEXT_WINDOW": 4096, "POCKETCHAT_REPLY_TOKENS": 500},
        {"POCKETCHAT_MODELS": '{"openai:x": {"window": 4000, "reply": 1000, "history": 0, "images": true}}'},
        {"POCKETCHAT_CONTEXT_POLICY": "pairs"},
        {"POCKETCHAT_RETRIEVED_TOKENS": 80},
        {"POCKETCHAT_RETRIEVED_TOKENS": 0, "POCKETCHAT_SUMMARIES": False},
        {"POCKETCHAT_CHAT_MODEL": "openai:qwen3:8b", "POCKETCHAT_CHAT_BASE_URL": "http://localhost:11434/v1"},
    ],
)
def test_what_is_meant_is_let_through(values: dict[str, Any], settings: Any) -> None:
    for name, value in values.items():
        setattr(settings, name, value)
    assert found() == []
