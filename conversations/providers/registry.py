"""Which models this installation offers, by the name that is stored with a turn.

To add a provider: if pydantic-ai knows it and its SDK is installed (OpenAI's and Anthropic's are), its `provider:name`
in POCKETCHAT_CHAT_MODEL is enough. Otherwise write a `ChatModel` beside `chat.py` and choose it in `chat_model`.
"""

import os
from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from conversations.providers.errors import ProviderError
from conversations.providers.overrides import override_of
from conversations.providers.values import ChatModel, ChatModelInfo, Embedder
from conversations.providers.windows import takes_images, window_of

BUNDLED = "bundled:smollm2-135m"
BUNDLED_LABEL = "SmolLM2 135M (bundled)"
BUNDLED_TEMPERATURE = 0.2
"""A model this small wanders at the usual temperatures."""

CONNECT = "conversations.providers.chat.connect"
"""Loaded by the first reply. The providers' SDKs take 110 MB and three seconds of a process; web processes and the
workers of the background, which never ask a model, do not pay for them."""

BUNDLED_EMBEDDER = "conversations.providers.embedding.BundledEmbedder"
ENDPOINT_EMBEDDER = "conversations.providers.embeddings_api.EndpointEmbedder"
"""Loaded by whoever embeds or recalls first, for the same reason."""

OPENAI_URL = "https://api.openai.com/v1"
"""Where an embedder of OpenAI's is, when no address is set."""

KEYLESS = "no-key"
"""Sent where a client insists on a key and the server wants none."""


def default_model_name() -> str:
    """The model a new turn is answered by."""
    return settings.POCKETCHAT_CHAT_MODEL or BUNDLED


def small_model_name() -> str:
    """The model that names conversations and writes their summaries."""
    return settings.POCKETCHAT_SMALL_MODEL or default_model_name()


def offered_models() -> tuple[str, ...]:
    """The models a conversation may choose, the default one first."""
    bundled = [BUNDLED] if settings.POCKETCHAT_BUNDLED_URL else []
    return tuple(dict.fromkeys([default_model_name(), *bundled]))


def chat_model_info(name: str) -> ChatModelInfo:
    """What is known of a model without asking anybody: what the settings say of it, else what its name says."""
    provider, _, model = name.partition(":")
    said = override_of(name)
    window = settings.POCKETCHAT_CONTEXT_WINDOW if name == settings.POCKETCHAT_CHAT_MODEL else 0
    return ChatModelInfo(
        name=name,
        label=BUNDLED_LABEL if name == BUNDLED else model or name,
        provider=provider,
        window=said.window or window or window_of(provider, model),
        takes_images=takes_images(model) if said.images is None else said.images,
    )


@cache
def chat_model(name: str) -> ChatModel:
    """The model of that name, with its connections.

    Raises:
        ProviderError: `not_configured` when its key or address is missing, `unknown_model` when the name says nothing.
    """
    model: ChatModel = import_string(CONNECT)(
        chat_model_info(name),
        base_url=_base_url(name),
        key=_key(name),
        silence=settings.POCKETCHAT_PROVIDER_SILENCE,
        temperature=BUNDLED_TEMPERATURE if name == BUNDLED else None,
        # The bundled model is too small to know when to call one.
        tools=settings.POCKETCHAT_TOOLS and name != BUNDLED,
    )
    return model


def _base_url(name: str) -> str:
    """Empty: the provider's own address."""
    if name != BUNDLED:
        return str(settings.POCKETCHAT_CHAT_BASE_URL) if is_at_our_server(name) else ""
    if not settings.POCKETCHAT_BUNDLED_URL:
        raise ProviderError("not_configured")
    return str(settings.POCKETCHAT_BUNDLED_URL)


def is_at_our_server(name: str) -> bool:
    """Whether the address and the key of the settings are meant for it."""
    chat, small = settings.POCKETCHAT_CHAT_MODEL, settings.POCKETCHAT_SMALL_MODEL
    provider = name.partition(":")[0]
    return bool(name == chat or (name == small and provider == chat.partition(":")[0]))


def _key(name: str) -> str:
    """Empty: the provider reads its own variable, at its own address."""
    if name == BUNDLED:
        return KEYLESS
    if not is_at_our_server(name):
        return ""
    # A provider's own key is for its own address alone, whatever server stands at the one that was set.
    keyless = KEYLESS if settings.POCKETCHAT_CHAT_BASE_URL else ""
    return str(settings.POCKETCHAT_CHAT_API_KEY) or keyless


@cache
def embedder() -> Embedder:
    """What makes messages findable by what they mean: the bundled one, unless the settings name another.

    Raises:
        ProviderError: `not_configured`: it cannot be loaded, or not with these settings.
    """
    try:
        return _made_embedder()
    except Exception as error:  # Whatever is wrong with it costs what it is asked for, and nothing else.
        raise ProviderError("not_configured") from error


def _made_embedder() -> Embedder:
    if model := settings.POCKETCHAT_EMBEDDER:
        address = settings.POCKETCHAT_EMBEDDER_BASE_URL
        # A provider's own key is for its own address alone, whatever server stands at the one that was set.
        own = KEYLESS if address else os.environ.get("OPENAI_API_KEY", "")
        remote: Embedder = import_string(ENDPOINT_EMBEDDER)(
            model,
            base_url=address or OPENAI_URL,
            key=settings.POCKETCHAT_EMBEDDER_API_KEY or own,
            dimensions=settings.POCKETCHAT_EMBEDDER_DIMENSIONS,
        )
        return remote
    made: Embedder = import_string(BUNDLED_EMBEDDER)(settings.PLACES.embedder)
    return made
