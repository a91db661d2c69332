"""What models think aloud before they answer, where their server does not tell it apart."""

import re

_NAME = r"(?:think|thinking|thought|reasoning|reflection)\b[^>]*"
_REASONING = re.compile(rf"\A(?:\s*<{_NAME}>.*?(?:</{_NAME}>|\Z))+", re.DOTALL | re.IGNORECASE)
_CLOSED_ONLY = re.compile(
    rf"\A(?:(?!<{_NAME}>).)*?(?:^[ \t]*|(?<=[.!?…。！？]))</{_NAME}>", re.DOTALL | re.IGNORECASE | re.MULTILINE
)
"""Some servers give out the reasoning without the tag that opens it. The one that closes it begins a line then, or
follows the end of a sentence at once."""


def without_reasoning(answer: str) -> str:
    """The answer alone; nothing, when the tag is never closed.

    Reasoning stands before an answer: a tag within one is a word of it.
    """
    told, count = _REASONING.subn("", answer)
    return (told if count else _CLOSED_ONLY.sub("", answer)).strip()
