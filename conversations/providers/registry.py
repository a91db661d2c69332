"""Which models this installation offers, by the name that is stored with a turn.

To add a provider: if pydantic-ai knows it, its `provider:name` in POCKETCHAT_CHAT_MODEL is enough; otherwise
build its `Model` in `_built`.
"""

import os
from functools import cache

from django.conf import settings
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model, infer_model_profile
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from conversations.providers.chat import ChatModel
from conversations.providers.errors import ProviderError
from conversations.providers.values import ChatModelInfo

BUNDLED = "bundled:smollm2-135m"
BUNDLED_WINDOW = 8192
"""Tokens: what the bundled model was trained for, and what its server is started with."""
BUNDLED_TEMPERATURE = 0.2
"""A model this small wanders at the usual temperatures."""

UNKNOWN_WINDOW = 8192
"""Tokens assumed for a model nothing is known of; POCKETCHAT_CONTEXT_WINDOW says better."""

KEYLESS = "no-key"
"""Sent where a client insists on a key and the server wants none."""


def default_model_name() -> str:
    """The model a new turn is answered by."""
    return settings.POCKETCHAT_CHAT_MODEL or BUNDLED


def chat_model_info(name: str) -> ChatModelInfo:
    """What is known of a model without asking anybody."""
    provider, _, model = name.partition(":")
    if name == BUNDLED:
        return ChatModelInfo(name=name, label="SmolLM2 135M (bundled)", provider=provider, window=BUNDLED_WINDOW)
    return ChatModelInfo(name=name, label=model or name, provider=provider, window=_window(name))


@cache
def chat_model(name: str) -> ChatModel:
    """The model of that name, with its connections.

    Raises:
        ProviderError: `not_configured` when the key or address is missing, `unknown_model` when the name says nothing.
    """
    try:
        model = _built(name)
    except UserError as error:
        raise ProviderError("not_configured" if "environment variable" in str(error) else "unknown_model") from error
    temperature = BUNDLED_TEMPERATURE if name == BUNDLED else None
    return ChatModel(
        model, chat_model_info(name), silence=settings.POCKETCHAT_PROVIDER_SILENCE, temperature=temperature
    )


def _built(name: str) -> Model:
    provider, _, model = name.partition(":")
    if name == BUNDLED:
        return _openai_compatible(model, base_url=settings.POCKETCHAT_BUNDLED_URL, key=KEYLESS)
    if name != settings.POCKETCHAT_CHAT_MODEL or not settings.POCKETCHAT_CHAT_BASE_URL:
        return infer_model(name)
    base_url, key = settings.POCKETCHAT_CHAT_BASE_URL, settings.POCKETCHAT_CHAT_API_KEY
    if provider == "anthropic":
        key = key or os.environ.get("ANTHROPIC_API_KEY", KEYLESS)
        return AnthropicModel(model, provider=AnthropicProvider(base_url=base_url, api_key=key))
    return _openai_compatible(model, base_url=base_url, key=key or os.environ.get("OPENAI_API_KEY", KEYLESS))


def _openai_compatible(model: str, *, base_url: str, key: str) -> Model:
    if not base_url:
        raise ProviderError("not_configured")
    return OpenAIChatModel(model, provider=OpenAIProvider(base_url=base_url, api_key=key))


def _window(name: str) -> int:
    if settings.POCKETCHAT_CONTEXT_WINDOW:
        return int(settings.POCKETCHAT_CONTEXT_WINDOW)
    return infer_model_profile(name).get("context_window") or UNKNOWN_WINDOW
