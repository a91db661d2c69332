"""What models think aloud before they answer, where their server does not tell it apart."""

import re

_NAME = r"(?:\w+:)?(?:think|thinking|thought|reasoning|reflection)\b[^>]*"
_OPENS = rf"(?:<{_NAME}>|\[think(?:ing)?\]|◁think▷)"
_CLOSES = rf"(?:</{_NAME}>|\[/think(?:ing)?\]|◁/think▷)"
"""Most models write a tag, some with a prefix; Magistral and Kimi have brackets of their own."""
_REASONING = re.compile(rf"\A(?:\s*{_OPENS}.*?(?:{_CLOSES}|\Z))+", re.DOTALL | re.IGNORECASE)
_CLOSED_ONLY = re.compile(
    rf"\A(?:(?!{_OPENS}).)*?(?:^[ \t]*|(?<=[.!?…。！？])){_CLOSES}", re.DOTALL | re.IGNORECASE | re.MULTILINE
)
"""Some servers give out the reasoning without the tag that opens it. The one that closes it begins a line then, or
follows the end of a sentence at once."""


def without_reasoning(answer: str) -> str:
    """The answer alone; nothing, when the tag is never closed.

    Reasoning stands before an answer: a tag within one is a word of it.
    """
    told, count = _REASONING.subn("", answer)
    return (told if count else _CLOSED_ONLY.sub("", answer)).strip()
