"""Context windows of models, in tokens of prompt and reply together, and which models take images.

What is known of windows comes from the price list of genai-prices, through a file that `price_list` writes: 130 KB,
read in two milliseconds when the first model is asked about that needs it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

KNOWN = Path(__file__).with_name("known_windows.json")

OWN = {
    "smollm2": 8_192,
    "gpt-4o": 128_000,
    "gpt-": 400_000,
    "gpt-oss": 8_192,
    "chatgpt": 128_000,
    "o1": 200_000,
    "o3": 200_000,
    "o4": 200_000,
    "claude": 200_000,
    "gemini": 1_048_576,
}
"""Of the bundled model, and of models newer than the list, or with names that it does not know: by the beginning of
the name, the longest that fits counts. Open weights are run by servers of one's own: see `UNKNOWN`."""

UNKNOWN = 8_192
"""Assumed for the others, such as local models, whose servers are often started with little; the settings
POCKETCHAT_CONTEXT_WINDOW and POCKETCHAT_MODELS say better."""

NAMESAKES = {"bedrock": "aws", "xai": "x-ai", "ollama": "", "vllm": "", "bundled": ""}
"""Providers of pydantic-ai that have another name in the list, or serve models in windows of their own."""

SEEING = re.compile(
    r"gpt-4o|gpt-4\.1|gpt-4-turbo|gpt-[5-9]|^o[134](?!-mini)|^o4-mini|claude(?!-(?:2|v|instant))|gemini|grok-[4-9]"
    r"|pixtral|llava|bakllava|moondream|minicpm-v|gemma-?[3-9](?!n?[:-](?:270m|1b))|llama-?4|vision|[-:.]vl\b|\dvl\b|-omni"
)
"""Names of models that take images. Nobody else keeps such a list: one that is not in it is told that there was an
image, and POCKETCHAT_MODELS can say that it takes them."""


@lru_cache(maxsize=1000)
def window_of(provider: str, model: str) -> int:
    """Tokens the model takes, asked for under the name `provider:model`."""
    model = model.lower()
    for listed, name in _places(provider.lower(), model):
        if window := _listed(listed, name):
            return window
    name = model.rpartition("/")[2]
    own = [beginning for beginning in OWN if name.startswith(beginning)]
    return OWN[max(own, key=len)] if own else UNKNOWN


def takes_images(model: str) -> bool:
    """Whether the model is known to take images."""
    return SEEING.search(model.lower().rpartition("/")[2]) is not None


def _places(provider: str, model: str) -> Iterator[tuple[str, str]]:
    """Where the list may have the model: at its provider, or, behind a gateway, at the one that made it."""
    known = _known()
    named = NAMESAKES.get(provider, provider)
    at = named if named in known else next((one for one, told in known.items() if _fits(told["provider"], named)), "")
    for place in [at, *(known[at]["also"] if at else [])]:
        yield place, model
    name = model.rpartition("/")[2]
    for one, told in known.items():
        if _fits(told["model"], name):
            yield one, name


def _listed(provider: str, model: str) -> int | None:
    """The first entry that fits counts, also one that knows no window."""
    models = _known().get(provider, {"models": ()})["models"]
    return next((window for rule, window in models if _fits(rule, model)), None)


def _fits(rule: Any, name: str) -> bool:
    """Whether a rule of the file, see `price_list`, fits a name in small letters."""
    if not rule or not name:
        return False
    if isinstance(rule, list):
        return any(_fits(one, name) for one in rule)
    if isinstance(rule, dict):
        return all(_fits(one, name) for one in rule["and"])
    text: str = rule[1:]
    match rule[0]:
        case "=":
            return name == text
        case "^":
            return name.startswith(text)
        case "~":
            return text in name
        case "$":
            return name.endswith(text)
    return re.search(text, name) is not None


@cache
def _known() -> Mapping[str, Any]:
    known: dict[str, Any] = json.loads(KNOWN.read_text(encoding="utf-8"))
    return known
