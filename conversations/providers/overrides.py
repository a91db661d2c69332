"""What the administrator says of single models: POCKETCHAT_MODELS, a path or the JSON itself.

{"openai:llama3.2": {"window": 32768, "history": 6000, "reply": 1000, "retrieved": 1000, "system": 800,
                     "images": false}}

What is not said of a model is as for all others.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from conversations.providers.values import MOST_TOKENS

POSITIVE = frozenset({"window", "reply"})
"""Without a token of these no question can be asked."""


class BadModels(ValueError):
    """The setting cannot be meant; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Override:
    """Tokens of one model, and whether it takes images; None: as for all others."""

    window: int | None = None
    history: int | None = None
    reply: int | None = None
    retrieved: int | None = None
    system: int | None = None
    images: bool | None = None


NOTHING_SAID = Override()
KEYS = tuple(field.name for field in fields(Override))


def override_of(model: str) -> Override:
    """What the setting says of a model; nothing when it cannot be read, which the system check tells."""
    try:
        return configured_models(settings.POCKETCHAT_MODELS).get(model, NOTHING_SAID)
    except BadModels:
        return NOTHING_SAID


@lru_cache(maxsize=8)
def configured_models(setting: str) -> Mapping[str, Override]:
    """Read the setting; an empty one says nothing. A file is read once in the life of a process.

    Raises:
        BadModels
    """
    if not setting.strip():
        return {}
    try:
        document = json.loads(_source(setting.strip()), object_pairs_hook=_named_once)
    except BadModels:
        raise
    except (ValueError, RecursionError) as error:  # Python reads no number of more than some thousand digits.
        raise BadModels("It is not valid JSON.") from error
    if not isinstance(document, dict):
        raise BadModels("It is no object of models.")
    return {name: _override(name, said) for name, said in document.items()}


def _source(setting: str) -> str:
    if setting.startswith(("{", "[")):
        return setting
    try:
        return Path(setting).read_text(encoding="utf-8")
    except OSError as error:
        raise BadModels(f"The file {setting} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise BadModels(f"The file {setting} is not in UTF-8.") from error


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON lets a name stand twice, and of a model that is described twice one half would be ignored."""
    named = dict(pairs)
    if len(named) < len(pairs):
        raise BadModels(
            f'"{next(name for at, (name, _) in enumerate(pairs) if name in dict(pairs[:at]))}" is named twice.'
        )
    return named


def _override(name: str, said: Any) -> Override:
    if not all(name.partition(":")):
        raise BadModels(f'"{name}" is no model: write provider:name, such as openai:llama3.2.')
    if not isinstance(said, dict):
        raise BadModels(f"What is said of {name} is no object.")
    if unknown := [key for key in said if key not in KEYS]:
        raise BadModels(f'{name} has "{unknown[0]}", which is unknown; known are {", ".join(KEYS)}.')
    for key, value in said.items():
        _check(name, key, value)
    return Override(**said)


def _check(name: str, key: str, value: Any) -> None:
    if key == "images":
        if not isinstance(value, bool):
            raise BadModels(f'"{key}" of {name} must be true or false.')
    elif isinstance(value, bool) or not isinstance(value, int):
        raise BadModels(f'"{key}" of {name} must be a whole number of tokens.')
    elif value < (least := int(key in POSITIVE)):
        raise BadModels(f'"{key}" of {name} must be {least} or more.')
    elif value > MOST_TOKENS:
        raise BadModels(f'"{key}" of {name} must be at most {MOST_TOKENS}.')
