"""System checks: settings that can be read but cannot be meant."""

import os
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error

from conversations.budgets import LEAST_OF_A_SUMMARY, budget_for, most_of_owners_summary
from conversations.providers.json_setting import BadSetting
from conversations.providers.mcp_servers import configured_servers
from conversations.providers.overrides import configured_models
from conversations.providers.registry import default_model_name, is_at_our_server
from conversations.text import estimate_tokens
from pocketchat.environment import LOOPBACK

TAG = "pocketchat"
HEARTBEATS_IN_A_LEASE = 4
"""A worker may be late for two and still hold its turn."""
POSITIVE = (
    "POCKETCHAT_EXPORT_DAYS",
    "POCKETCHAT_IMPORT_BYTES",
    "POCKETCHAT_REPLY_TOKENS",
    "POCKETCHAT_SYSTEM_TOKENS",
    "POCKETCHAT_PROMPT_CHARACTERS",
    "POCKETCHAT_PROVIDER_SILENCE",
    "POCKETCHAT_LEASE",
    "POCKETCHAT_HEARTBEAT",
    "POCKETCHAT_STREAM_LIFE",
    "POCKETCHAT_TOOL_ROUNDS",
    "POCKETCHAT_REPLIES_A_PERSON",
)
MOST_ROUNDS = 20
"""Every round is one more request that somebody pays for."""
NOT_NEGATIVE = (
    "POCKETCHAT_CONTEXT_WINDOW",
    "POCKETCHAT_HISTORY_TOKENS",
    "POCKETCHAT_RETRIEVED_TOKENS",
    "POCKETCHAT_DATABASE_POOL",
    "POCKETCHAT_EMBEDDER_DIMENSIONS",
)
MODELS = ("POCKETCHAT_CHAT_MODEL", "POCKETCHAT_SMALL_MODEL")
POLICIES = ("tokens", "pairs")
LEAST_QUESTION = 100
"""Tokens that a model's other parts must leave for a question."""


def address_is_protected(**_: Any) -> list[CheckMessage]:
    address = urlsplit(settings.POCKETCHAT_URL)
    if address.scheme == "https" or address.hostname in LOOPBACK or settings.POCKETCHAT_ALLOW_HTTP:
        return []
    return [
        Error(
            f"POCKETCHAT_URL is {settings.POCKETCHAT_URL}: passwords and conversations would travel unprotected.",
            hint="Use an https address, with a proxy in front that has a certificate, or say with "
            "POCKETCHAT_ALLOW_HTTP=true that the network between is trusted.",
            id="pocketchat.E001",
        )
    ]


def figures_make_sense(**_: Any) -> list[CheckMessage]:
    refused = [f"{name} must be more than 0." for name in POSITIVE if getattr(settings, name) <= 0]
    refused += [f"{name} must not be less than 0." for name in NOT_NEGATIVE if getattr(settings, name) < 0]
    if settings.POCKETCHAT_TOOL_ROUNDS > MOST_ROUNDS:
        refused.append(f"POCKETCHAT_TOOL_ROUNDS must not be more than {MOST_ROUNDS}.")
    return [Error(message, id="pocketchat.E002") for message in refused]


def lease_outlasts_heartbeats(**_: Any) -> list[CheckMessage]:
    least = HEARTBEATS_IN_A_LEASE * settings.POCKETCHAT_HEARTBEAT
    lease = settings.POCKETCHAT_LEASE
    if lease >= least:
        return []
    return [
        Error(
            f"POCKETCHAT_LEASE is {lease:g} s, too short for a heartbeat every "
            f"{settings.POCKETCHAT_HEARTBEAT:g} s: replies would be called interrupted while they are being written.",
            hint=f"Make it {least:g} s or more, or POCKETCHAT_HEARTBEAT shorter.",
            id="pocketchat.E003",
        )
    ]


def reply_fits_window(**_: Any) -> list[CheckMessage]:
    window, reply = settings.POCKETCHAT_CONTEXT_WINDOW, settings.POCKETCHAT_REPLY_TOKENS
    if not window or reply < window:
        return []
    return [
        Error(
            f"POCKETCHAT_REPLY_TOKENS is {reply}, which leaves nothing of the {window} tokens of "
            "POCKETCHAT_CONTEXT_WINDOW for the question.",
            hint="Make the one smaller or the other larger.",
            id="pocketchat.E004",
        )
    ]


def models_are_named(**_: Any) -> list[CheckMessage]:
    named = [(setting, getattr(settings, setting)) for setting in MODELS]
    return [
        Error(
            f"{setting} is {model!r}, without a provider.",
            hint="Write provider:name, such as openai:gpt-5-mini or anthropic:claude-sonnet-4-5.",
            id="pocketchat.E005",
        )
        for setting, model in named
        if model and not all(model.partition(":"))
    ]


def chat_model_goes_with_its_server(**_: Any) -> list[CheckMessage]:
    model = settings.POCKETCHAT_CHAT_MODEL
    idle = [name for name in ("POCKETCHAT_CHAT_BASE_URL", "POCKETCHAT_CHAT_API_KEY") if getattr(settings, name)]
    if model or not idle:
        return []
    return [
        Error(
            f"{idle[0]} is set and POCKETCHAT_CHAT_MODEL is not, so the bundled model would be used all the same.",
            hint="Set POCKETCHAT_CHAT_MODEL to provider:name.",
            id="pocketchat.E006",
        )
    ]


def base_url_is_an_address(**_: Any) -> list[CheckMessage]:
    url = settings.POCKETCHAT_CHAT_BASE_URL
    address = urlsplit(url)
    if not url or (address.scheme in ("http", "https") and address.hostname):
        return []
    return [
        Error(
            f"POCKETCHAT_CHAT_BASE_URL is {url!r}, which is no address.",
            hint="Write it in full, such as http://localhost:11434/v1.",
            id="pocketchat.E007",
        )
    ]


KEYS = {"openai": "OPENAI_API_KEY", "openai-chat": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


def models_have_keys(**_: Any) -> list[CheckMessage]:
    """For the providers named in the README; others look for their own variables when they are first asked."""
    missing = [(setting, variable) for setting in MODELS if (variable := _missing_key(getattr(settings, setting)))]
    return [
        Error(
            f"{setting} is {getattr(settings, setting)}, and {variable} is not set.",
            hint=f"Set {variable}, or POCKETCHAT_CHAT_BASE_URL for a server of your own.",
            id="pocketchat.E008",
        )
        for setting, variable in missing
    ]


def _missing_key(model: str) -> str:
    """The variable that its provider's key would stand in; empty when nothing is missing."""
    variable = KEYS.get(model.partition(":")[0], "")
    given = settings.POCKETCHAT_CHAT_API_KEY or settings.POCKETCHAT_CHAT_BASE_URL
    return "" if (given and is_at_our_server(model)) or os.environ.get(variable) else variable


EMBEDDER_SETTINGS = (
    "POCKETCHAT_EMBEDDER_BASE_URL",
    "POCKETCHAT_EMBEDDER_API_KEY",
    "POCKETCHAT_EMBEDDER_DIMENSIONS",
)


def embedder_can_be_asked(**_: Any) -> list[CheckMessage]:
    """The same questions as for the chat model, of the embedder."""
    model, url = settings.POCKETCHAT_EMBEDDER, settings.POCKETCHAT_EMBEDDER_BASE_URL
    if not model:
        idle = [name for name in EMBEDDER_SETTINGS if getattr(settings, name)]
        return [
            Error(
                f"{name} is set and POCKETCHAT_EMBEDDER is not, so the bundled embedder would be used all the same.",
                hint="Set POCKETCHAT_EMBEDDER to provider:name.",
                id="pocketchat.E014",
            )
            for name in idle[:1]
        ]
    address = urlsplit(url)
    if url and not (address.scheme in ("http", "https") and address.hostname):
        return [
            Error(
                f"POCKETCHAT_EMBEDDER_BASE_URL is {url!r}, which is no address.",
                hint="Write it in full, such as http://localhost:11434/v1.",
                id="pocketchat.E015",
            )
        ]
    provider, _, name = model.partition(":")
    if not name or (provider != "openai" and not url):
        return [
            Error(
                f"POCKETCHAT_EMBEDDER is {model!r}: it names no model of a server that is known.",
                hint="Write openai:text-embedding-3-small, or provider:name with POCKETCHAT_EMBEDDER_BASE_URL.",
                id="pocketchat.E016",
            )
        ]
    if url or settings.POCKETCHAT_EMBEDDER_API_KEY or os.environ.get("OPENAI_API_KEY"):
        return []
    return [
        Error(
            f"POCKETCHAT_EMBEDDER is {model}, and OPENAI_API_KEY is not set.",
            hint="Set it or POCKETCHAT_EMBEDDER_API_KEY, or POCKETCHAT_EMBEDDER_BASE_URL for a server of your own.",
            id="pocketchat.E017",
        )
    ]


def mcp_servers_can_be_read(**_: Any) -> list[CheckMessage]:
    try:
        configured_servers(settings.POCKETCHAT_MCP_SERVERS)
    except BadSetting as error:
        return [
            Error(
                f"POCKETCHAT_MCP_SERVERS cannot be used: {error}",
                hint='Write the path of a JSON file, or the JSON itself: {"mcpServers": {"name": {"url": "https://…"}}}.',
                id="pocketchat.E009",
            )
        ]
    return []


def models_leave_room(**_: Any) -> list[CheckMessage]:
    try:
        said = configured_models(settings.POCKETCHAT_MODELS)
    except BadSetting as error:
        return [
            Error(
                f"POCKETCHAT_MODELS cannot be used: {error}",
                hint='Write the path of a JSON file, or the JSON itself: {"openai:llama3.2": {"window": 32768}}.',
                id="pocketchat.E010",
            )
        ]
    crowded = [message for name in said if (message := _crowded(name))]
    return [
        Error(message, hint="Make a part smaller, or the window larger.", id="pocketchat.E011") for message in crowded
    ]


def _crowded(model: str) -> str:
    """Empty when a question has room beside the other parts of a request."""
    budget = budget_for(model)
    taken = budget.reply + budget.system + budget.retrieved
    if budget.window - taken >= LEAST_QUESTION:
        return ""
    return (
        f"POCKETCHAT_MODELS leaves no room for a question to {model}: reply {budget.reply}, system prompt "
        f"{budget.system} and what is retrieved {budget.retrieved} take {taken} of its {budget.window} tokens."
    )


def context_policy_is_known(**_: Any) -> list[CheckMessage]:
    policy = settings.POCKETCHAT_CONTEXT_POLICY
    if policy in POLICIES:
        return []
    return [
        Error(
            f"POCKETCHAT_CONTEXT_POLICY is {policy!r}; it can be {' or '.join(POLICIES)}.",
            hint="`tokens` fills what the model takes, `pairs` sends six pairs of question and answer.",
            id="pocketchat.E012",
        )
    ]


def system_prompt_fits(**_: Any) -> list[CheckMessage]:
    size, limit = estimate_tokens(settings.POCKETCHAT_SYSTEM_PROMPT), budget_for(default_model_name()).system
    if size <= limit:
        return []
    return [
        Error(
            f"POCKETCHAT_SYSTEM_PROMPT takes about {size} tokens; {default_model_name()} has {limit} for it.",
            hint="Shorten it, or raise POCKETCHAT_SYSTEM_TOKENS, or `system` of the model in POCKETCHAT_MODELS; "
            "of a window a quarter at most is used for it.",
            id="pocketchat.E013",
        )
    ]


def summaries_have_room(**_: Any) -> list[CheckMessage]:
    model = default_model_name()
    if not settings.POCKETCHAT_SUMMARIES or most_of_owners_summary(model) >= LEAST_OF_A_SUMMARY:
        return []
    return [
        checks.Warning(
            f"No summaries are written: of the {budget_for(model).retrieved} tokens that {model} has for what is "
            f"retrieved, half is less than the {LEAST_OF_A_SUMMARY} of the shortest.",
            hint="Raise POCKETCHAT_RETRIEVED_TOKENS, or `retrieved` of the model in POCKETCHAT_MODELS, or say "
            "POCKETCHAT_SUMMARIES=false.",
            id="pocketchat.W014",
        )
    ]


CHECKS = (
    summaries_have_room,
    models_leave_room,
    context_policy_is_known,
    system_prompt_fits,
    mcp_servers_can_be_read,
    models_have_keys,
    embedder_can_be_asked,
    address_is_protected,
    figures_make_sense,
    lease_outlasts_heartbeats,
    reply_fits_window,
    models_are_named,
    chat_model_goes_with_its_server,
    base_url_is_an_address,
)
