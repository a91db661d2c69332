"""The windows of the models that genai-prices knows, written into a file beside this one.

`make windows` does it, after an upgrade; a test says when it was forgotten. The package itself takes 30 MB and
0.7 seconds of a process, which no web process should pay for one number of one model.

`python -m conversations.providers.price_list`
"""

import json
from typing import Any

from genai_prices.data_snapshot import get_snapshot

from conversations.providers.windows import KNOWN

SIGNS = {"equals": "=", "starts_with": "^", "contains": "~", "ends_with": "$", "regex": "/"}


def known() -> dict[str, Any]:
    """By provider: how its name is known, whose models it has beside its own, its models in order of search."""
    return {
        provider.id: {
            "provider": _rule(provider.provider_match),
            "model": _rule(provider.model_match),
            "also": provider.fallback_model_providers or [],
            "models": [[_rule(model.match), model.context_window] for model in provider.models],
        }
        for provider in get_snapshot().providers
    }


def _rule(clause: Any) -> Any:
    """A text whose first character says how it is compared; a list, of which one must fit; {"and": […]}; None."""
    if clause is None:
        return None
    if hasattr(clause, "or_"):
        return [_rule(one) for one in clause.or_]
    if hasattr(clause, "and_"):
        return {"and": [_rule(one) for one in clause.and_]}
    how, text = next((how, getattr(clause, how)) for how in SIGNS if hasattr(clause, how))
    return SIGNS[how] + (text if how == "regex" else text.lower())


def as_text() -> str:
    """A line a provider, so that a change can be read."""
    lines = (f"{json.dumps(name)}:{json.dumps(one, separators=(',', ':'))}" for name, one in known().items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    KNOWN.write_text(as_text(), encoding="utf-8")
