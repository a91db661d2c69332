"""What the administrator says of single models: POCKETCHAT_MODELS, a path or the JSON itself.

{"openai:llama3.2": {"window": 32768, "history": 6000, "reply": 1000, "retrieved": 1000, "system": 800,
                     "images": false}}

What is not said of a model is as for all others.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from django.conf import settings

from conversations.providers.json_setting import BadSetting, document_in
from conversations.providers.values import MOST_TOKENS

POSITIVE = frozenset({"window", "reply"})
"""Without a token of these no question can be asked."""


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
    except BadSetting:
        return NOTHING_SAID


@lru_cache(maxsize=8)
def configured_models(setting: str) -> Mapping[str, Override]:
    """Read the setting; an empty one says nothing. A file is read once in the life of a process.

    Raises:
        BadSetting
    """
    document = document_in(setting, object_pairs=_named_once)
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise BadSetting("It is no object of models.")
    return {name: _override(name, said) for name, said in document.items()}


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON lets a name stand twice, and of a model that is described twice one half would be ignored."""
    named = dict(pairs)
    if len(named) < len(pairs):
        raise BadSetting(
            f'"{next(name for at, (name, _) in enumerate(pairs) if name in dict(pairs[:at]))}" is named twice.'
        )
    return named


def _override(name: str, said: Any) -> Override:
    if not all(name.partition(":")):
        raise BadSetting(f'"{name}" is no model: write provider:name, such as openai:llama3.2.')
    if not isinstance(said, dict):
        raise BadSetting(f"What is said of {name} is no object.")
    if unknown := [key for key in said if key not in KEYS]:
        raise BadSetting(f'{name} has "{unknown[0]}", which is unknown; known are {", ".join(KEYS)}.')
    for key, value in said.items():
        _check(name, key, value)
    return Override(**said)


def _check(name: str, key: str, value: Any) -> None:
    if key == "images":
        if not isinstance(value, bool):
            raise BadSetting(f'"{key}" of {name} must be true or false.')
    elif isinstance(value, bool) or not isinstance(value, int):
        raise BadSetting(f'"{key}" of {name} must be a whole number of tokens.')
    elif value < (least := int(key in POSITIVE)):
        raise BadSetting(f'"{key}" of {name} must be {least} or more.')
    elif value > MOST_TOKENS:
        raise BadSetting(f'"{key}" of {name} must be at most {MOST_TOKENS}.')
