"""What a small model makes of being asked for a title, and the title in it. Pure functions over strings."""

import json
import re

from conversations.providers.reasoning import without_reasoning
from conversations.recall.words import UNSPACED
from conversations.text import clean, is_blank, line

MOST_WORDS = 5
MOST_CHARACTERS = 80
"""Of a title in a script that sets spaces; five words are seldom longer, and then they are none."""
MOST_UNSPACED = 20
"""Characters, where words are not set apart."""

EXCERPT = 1200
"""Characters of a message that a model is shown to find a title."""

INSTRUCTIONS = (
    "You name conversations. Answer with a title of at most five words, in the language the user writes, and with "
    "nothing else: no quotation marks, no full stop, no explanation."
)

_FENCE = re.compile(r"\A```\w*\s*\n(.*?)\n?```\s*\Z", re.DOTALL)
_LABEL = re.compile(
    r"\A(?:the\s+)?(?:title|titel|titre|título|titolo|tytuł|название|заголовок|标题|標題|タイトル|제목|العنوان|عنوان)"
    r"(?:\s+(?:is|of the conversation))?\s*[:：–-]\s*",
    re.IGNORECASE,
)
_MARKS = " \t\"'“”„«»‘’‚‹›「」『』《》`*_#"
_ENDS = ".。．!！,;:；：،"


def title_in(answer: str) -> str:
    """A title of at most five words on one line, in the answer of a model; empty when there is none.

    Reasoning is left out, also when its tag is never closed; JSON, code fences, labels, quotation marks and Markdown
    are taken off. A whole sentence, or what still looks like markup, is no title.
    """
    said = without_reasoning(clean(answer))
    if fenced := _FENCE.match(said):
        said = fenced[1].strip()
    said = _out_of_json(said)
    first = next((row.strip() for row in said.splitlines() if not is_blank(row)), "")
    title = line(_bare(_LABEL.sub("", _bare(first))))
    return title if _is_title(title) else ""


def _out_of_json(said: str) -> str:
    try:
        value = json.loads(said)
    except (ValueError, RecursionError):
        return said
    if isinstance(value, dict):
        value = next((inner for inner in [value.get("title"), *value.values()] if isinstance(inner, str)), "")
    elif isinstance(value, list):
        value = next((inner for inner in value if isinstance(inner, str)), "")
    return value if isinstance(value, str) else said


def _bare(text: str) -> str:
    """Without the marks around it; a question mark stays, it belongs to a question."""
    return text.strip(_MARKS).rstrip(_ENDS).strip(_MARKS)


def _is_title(title: str) -> bool:
    if not title or re.search(r"[<>{}\[\]|\\]", title):
        return False
    if UNSPACED.search(title):
        return len(title) <= MOST_UNSPACED and len(title.split()) <= MOST_WORDS
    return len(title) <= MOST_CHARACTERS and len(title.split()) <= MOST_WORDS


def excerpt_of(said: list[tuple[str, str]]) -> str:
    """The beginning of a conversation, role and text of each message, as it is shown to the model."""
    return "\n\n".join(f"{role}: {text.strip()[:EXCERPT]}" for role, text in said if text.strip())
