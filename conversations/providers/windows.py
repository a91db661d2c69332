"""Context windows of known models, in tokens of prompt and reply together, as their makers publish them."""

WINDOWS = {
    "smollm2": 8_192,
    "gpt-4o": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-5": 400_000,
    "o1": 200_000,
    "o3": 200_000,
    "o4": 200_000,
    "claude": 200_000,
    "gemini": 1_048_576,
}
"""By the beginning of a model's name; the longest that fits counts."""

UNKNOWN = 8_192
"""Assumed for the others, such as local models, whose servers are often started with little; the setting
POCKETCHAT_CONTEXT_WINDOW says better."""


def window_of(model: str) -> int:
    """Tokens the model takes."""
    known = [beginning for beginning in WINDOWS if model.startswith(beginning)]
    return WINDOWS[max(known, key=len)] if known else UNKNOWN
