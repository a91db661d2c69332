"""How much a model takes, and whether it sees: from the price list, from a few lines of ours, from the settings."""

import json
from pathlib import Path

import pytest
from pytest_django import Settings

from conversations.providers.json_setting import BadSetting
from conversations.providers.overrides import Override, configured_models
from conversations.providers.price_list import as_text
from conversations.providers.registry import BUNDLED, chat_model_info
from conversations.providers.windows import KNOWN, UNKNOWN, takes_images, window_of


def test_the_file_is_what_the_installed_price_list_knows() -> None:
    assert KNOWN.read_text(encoding="utf-8") == as_text(), "run `make windows`"


@pytest.mark.parametrize(
    ("provider", "model", "window"),
    [
        ("openai", "gpt-4o-mini", 128_000),
        ("openai", "GPT-5", 400_000),
        ("anthropic", "claude-opus-4-8", 1_000_000),
        ("anthropic", "claude-sonnet-4-5-20250929", 200_000),
        ("openrouter", "anthropic/claude-opus-4.8", 1_000_000),
        ("vercel", "anthropic/claude-opus-4.8", 1_000_000),  # a gateway that has no list of its own
        ("azure", "gpt-4o", 128_000),
        ("bedrock", "anthropic.claude-sonnet-4-20250514-v1:0", 200_000),
        ("openai", "gpt-99-nova", 400_000),  # newer than the list
        ("openai", "gpt-oss:20b", 8_192),  # open weights, at a server of one's own
        ("ollama", "gpt-oss:20b", 8_192),
        ("anthropic", "claude-saga-9", 200_000),
        ("bundled", "smollm2-135m", 8_192),
        ("openai", "llama3.2", UNKNOWN),
        ("nobody", "nothing", UNKNOWN),
        ("", "", UNKNOWN),
    ],
)
def test_a_window_is_known_or_assumed(provider: str, model: str, window: int) -> None:
    assert window_of(provider, model) == window


@pytest.mark.parametrize(
    ("model", "sees"),
    [
        *[(name, True) for name in ("gpt-4o-mini", "gpt-5", "o3", "o4-mini", "claude-opus-4-8", "gemini-2.5-flash")],
        *[(name, True) for name in ("gemma3:4b", "qwen2.5vl:7b", "qwen2.5-vl-72b", "llama3.2-vision:11b", "llava:7b")],
        *[(name, True) for name in ("anthropic/claude-opus-4.8", "mistralai/pixtral-12b")],
        *[(name, False) for name in ("gpt-4", "gpt-3.5-turbo", "o3-mini", "claude-2", "gpt-oss-20b", "gemma3:1b")],
        *[(name, False) for name in ("llama3.2", "qwen3:8b", "deepseek-chat", "smollm2-135m", "", "visionless"[:3])],
    ],
)
def test_a_model_sees_when_it_is_known_to(model: str, sees: bool) -> None:
    assert takes_images(model) is sees


def test_the_settings_know_better(settings: Settings) -> None:
    assert not chat_model_info(BUNDLED).takes_images
    settings.POCKETCHAT_MODELS = json.dumps(
        {"openai:gpt-4o": {"images": False, "window": 9}, BUNDLED: {"images": True}}
    )
    assert not chat_model_info("openai:gpt-4o").takes_images
    assert chat_model_info("openai:gpt-4o").window == 9
    assert chat_model_info(BUNDLED).takes_images


def test_a_setting_that_cannot_be_read_says_nothing_and_breaks_nothing(settings: Settings) -> None:
    settings.POCKETCHAT_MODELS = "{"
    assert chat_model_info("openai:gpt-4o").window == 128_000


def test_it_is_the_json_itself_or_a_file_of_it(tmp_path: Path) -> None:
    setting = '{"openai:x": {"window": 5000, "images": true}}'
    (tmp_path / "models.json").write_text(setting)
    expected = {"openai:x": Override(window=5000, images=True)}
    assert configured_models(setting) == configured_models(str(tmp_path / "models.json")) == expected
    assert configured_models(" ") == {}


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("{", "not valid JSON"),
        ("[]", "no object of models"),
        ("/nonexistent/models.json", "cannot be read"),
        ('{"gpt-5": {}}', '"gpt-5" is no model: write provider:name'),
        ('{"openai:x": 5}', "What is said of openai:x is no object"),
        ('{"openai:x": {"widow": 5}}', 'has "widow", which is unknown; known are window, history'),
        ('{"openai:x": {"window": -1}}', '"window" of openai:x must be 1 or more'),
        ('{"openai:x": {"reply": 0}}', '"reply" of openai:x must be 1 or more'),
        ('{"openai:x": {"history": -5}}', '"history" of openai:x must be 0 or more'),
        ('{"openai:x": {"window": 1e9}}', "must be a whole number"),
        ('{"openai:x": {"window": true}}', "must be a whole number"),
        ('{"openai:x": {"window": null}}', "must be a whole number"),
        ('{"openai:x": {"window": 99999999999}}', "must be at most"),
        ('{"openai:x": {"images": 1}}', "must be true or false"),
        ('{"openai:x": {}, "openai:x": {"window": 5}}', '"openai:x" is named twice'),
        ("[" * 100_000, "not valid JSON"),
        (f'{{"openai:x": {{"window": {"9" * 5_000}}}}}', "not valid JSON"),
    ],
)
def test_what_cannot_be_meant_is_said(setting: str, words: str) -> None:
    with pytest.raises(BadSetting, match=words):
        configured_models(setting)
