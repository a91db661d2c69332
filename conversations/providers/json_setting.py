"""Settings whose value is JSON, or the path of a file that holds it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Pairs = Callable[[list[tuple[str, Any]]], Any]


class BadSetting(ValueError):
    """The setting cannot be meant; the sentence says why, and holds no value of it."""


def document_in(setting: str, *, object_pairs: Pairs | None = None) -> Any:
    """What the setting says; None of an empty one. `object_pairs`: see `object_pairs_hook` of `json.loads`.

    Raises:
        BadSetting
    """
    if not setting.strip():
        return None
    source = _source(setting.strip())
    try:
        document = json.loads(source, object_pairs_hook=object_pairs)
    except BadSetting:
        raise
    except (ValueError, RecursionError) as error:  # Python reads no number of more than some thousand digits.
        raise BadSetting("It is not valid JSON.") from error
    if document is None:
        raise BadSetting("It is null.")
    return document


def _source(setting: str) -> str:
    if setting.startswith(("{", "[")):
        return setting
    try:
        return Path(setting).read_text(encoding="utf-8")
    except OSError as error:
        raise BadSetting(f"The file {setting} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise BadSetting(f"The file {setting} is not in UTF-8.") from error
