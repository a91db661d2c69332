"""The names of models, and what they need."""

import asyncio
import subprocess
import sys
from contextlib import aclosing
from typing import cast

import pytest
from pytest_django import Settings

from conversations.providers.chat import StreamedChatModel
from conversations.providers.errors import ProviderError
from conversations.providers.registry import BUNDLED, chat_model, chat_model_info, default_model_name
from conversations.providers.values import ChatMessage, ChatModel, ChatRequest
from tests.provider import ScriptedProvider
from tests.stack import ROOT


@pytest.fixture(autouse=True)
def _no_models_kept() -> None:
    chat_model.cache_clear()


def test_without_a_setting_the_bundled_model_answers(settings: Settings) -> None:
    settings.POCKETCHAT_CHAT_MODEL = ""
    assert default_model_name() == BUNDLED
    assert chat_model_info(BUNDLED).label == "SmolLM2 135M (bundled)"


def test_a_configured_model_answers_instead(settings: Settings) -> None:
    settings.POCKETCHAT_CHAT_MODEL = "anthropic:claude-opus-4-8"
    settings.POCKETCHAT_CHAT_API_KEY = "sk"
    settings.POCKETCHAT_CHAT_BASE_URL = "http://localhost:1"
    info = chat_model(default_model_name()).info
    assert (info.provider, info.label, info.window) == ("anthropic", "claude-opus-4-8", 1_000_000)


def test_the_window_of_the_chat_model_can_be_set(settings: Settings) -> None:
    settings.POCKETCHAT_CHAT_MODEL = "openai:llama3.2"
    settings.POCKETCHAT_CONTEXT_WINDOW = 32_000
    assert chat_model_info("openai:llama3.2").window == 32_000
    assert chat_model_info(BUNDLED).window == 8_192


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("openai:gpt-5", "not_configured"),
        ("anthropic:claude-opus-4-8", "not_configured"),
        (BUNDLED, "not_configured"),
        ("nobody:nothing", "unknown_model"),
        ("nonsense", "unknown_model"),
    ],
)
def test_what_is_missing_is_named(name: str, code: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    settings.POCKETCHAT_BUNDLED_URL = ""
    with pytest.raises(ProviderError) as error:
        chat_model(name)
    assert error.value.code == code


@pytest.mark.parametrize(("own_key", "sent"), [("", "no-key"), ("sk-of-that-server", "sk-of-that-server")])
def test_a_providers_own_key_is_sent_to_no_other_server(
    own_key: str, sent: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai-alone")
    with ScriptedProvider() as server:
        settings.POCKETCHAT_CHAT_MODEL = "openai:llama3.2"
        settings.POCKETCHAT_CHAT_BASE_URL = server.openai_url
        settings.POCKETCHAT_CHAT_API_KEY = own_key
        asyncio.run(asked(chat_model("openai:llama3.2")))
        assert server.requests[0].headers["authorization"] == f"Bearer {sent}"


async def asked(model: ChatModel) -> None:
    request = ChatRequest((ChatMessage("user", "Why?"),), max_tokens=10)
    async with cast("StreamedChatModel", model).connections(), aclosing(model.stream(request)) as events:
        assert [event async for event in events]


def test_a_web_process_does_not_load_what_only_replies_need() -> None:
    code = (
        "import django; django.setup(); from django.urls import get_resolver; get_resolver().url_patterns\n"
        "from conversations.budgets import budget_for; budget_for('openai:gpt-5')\n"
        "import sys; heavy = ('pydantic_ai', 'openai', 'anthropic', 'fastmcp', 'mcp', 'genai_prices')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    assert loaded.stdout.strip() == "[]"
