"""What models think aloud before they answer, where their server does not tell it apart."""

import re

_TAG = r"(?:think|thinking|thought|reasoning|reflection)\b[^>]*"
_REASONING = re.compile(rf"<{_TAG}>.*?(?:</{_TAG}>|\Z)", re.DOTALL | re.IGNORECASE)
_CLOSED_ONLY = re.compile(rf"\A.*</{_TAG}>", re.DOTALL | re.IGNORECASE)
"""Some servers give out the reasoning without the tag that opens it."""


def without_reasoning(answer: str) -> str:
    """The answer alone; nothing, when the tag is never closed."""
    return _CLOSED_ONLY.sub("", _REASONING.sub("", answer)).strip()
