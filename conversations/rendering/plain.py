"""What a person typed, as HTML: every character as written, line breaks kept, addresses made links."""

import re
from html import escape

from django.utils.safestring import SafeString, mark_safe

from conversations.rendering.links import addresses, link
from conversations.rendering.sanitise import sanitised

_LINE_END = re.compile(r"\r\n?")
_PARAGRAPH_END = re.compile(r"\n(?:[ \t]*\n)+")


def render_plain(text: str) -> SafeString:
    """Paragraphs with line breaks. Linear in the text, so it also stands in where Markdown would cost too much."""
    text = _LINE_END.sub("\n", encodable(text)).strip("\n")
    paragraphs = [f'<p class="as-typed" dir="auto">{_lines(part)}</p>' for part in _PARAGRAPH_END.split(text) if part]
    return mark_safe(sanitised("\n".join(paragraphs)))  # noqa: S308 - escaped above, then sanitised


def encodable(text: str) -> str:
    """The text without lone surrogates, which no HTML can hold. Stored text has none."""
    return text.encode(errors="replace").decode()


def _lines(paragraph: str) -> str:
    parts: list[str] = []
    position = 0
    for start, end in addresses(paragraph):
        parts += escape(paragraph[position:start]), link(paragraph[start:end])
        position = end
    parts.append(escape(paragraph[position:]))
    return "".join(parts).replace("\n", "<br>")
