"""A conversation as Markdown: the active branch, dated, calls of tools folded."""

import re
from collections.abc import Iterator
from datetime import datetime
from html import escape

from conversations.providers.values import Image
from conversations.tools.lines import CallLine
from conversations.transfer.content import Content
from conversations.transfer.fences import contained, fenced
from conversations.transfer.headings import about, title_of
from conversations.transfer.spoken import Part, Spoken, Words, moment, spoken

_MARKS = re.compile(r"([\\`*_\[\]<>#~|])")


def written(content: Content, *, now: datetime) -> Iterator[str]:
    yield f"# {_literal(title_of(content.conversation))}\n\n*{about(now)}*\n"
    if prompt := content.conversation.system_prompt.strip():
        yield _folded("Instructions", fenced(prompt, "text"))
    for one in spoken(content):
        yield from _written(one)


def _written(one: Spoken) -> Iterator[str]:
    yield f"\n## {_literal(one.speaker)} · {moment(one.at)}\n"
    for part in one.parts:
        yield _part(part)
    for note in one.notes:
        yield f"\n*{_literal(note)}*\n"


def _part(part: Part) -> str:
    match part:
        case Words():
            return f"\n{contained(part.text)}\n"
        case CallLine():
            return _call(part)
        case Image():
            return f"\n*{_literal(picture_line(part))}*\n"


def picture_line(picture: Image) -> str:
    """In place of a picture, whose bytes would fill pages."""
    return f"A picture ({picture.media_type}, {len(picture.data) * 3 // 4:,} bytes): it is in the JSON."


def _call(call: CallLine) -> str:
    parts = [("Called with:", call.arguments, "json"), ("Result:", call.result, "text")]
    shown = [f"{name}\n\n{fenced(text, language)}" for name, text, language in parts if text]
    return _folded(call.label, "\n\n".join(shown))


def _folded(label: str, inner: str) -> str:
    return f"\n<details>\n<summary>{escape(label)}</summary>\n\n{inner}\n\n</details>\n"


def _literal(text: str) -> str:
    """Words of a line, none of which is a mark."""
    return _MARKS.sub(r"\\\1", text)
