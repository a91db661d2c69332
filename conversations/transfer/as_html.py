"""A conversation as one HTML file that opens alone: no script, nothing loaded from elsewhere, pictures inside.

The words are rendered by what renders the pages, and the style is theirs, too.
"""

import re
from base64 import b64encode
from collections.abc import Iterator
from datetime import datetime
from functools import cache

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from conversations.providers.pictures import readable
from conversations.providers.values import Image
from conversations.rendering import render_markdown, render_plain
from conversations.tools.lines import CallLine
from conversations.transfer.content import Content
from conversations.transfer.headings import about, title_of
from conversations.transfer.spoken import Part, Spoken, Words, moment, spoken

STYLES = ("tokens", "code", "prose", "export")
"""Of the product's style sheets, those that a file needs; the last is for files alone."""

_FONT_FACE = re.compile(r"@font-face\s*\{[^}]*\}")
"""Mathematics is set in a font of the reader's: a file loads none."""


def written(content: Content, *, now: datetime) -> Iterator[str]:
    conversation = content.conversation
    head = {
        "title": title_of(conversation),
        "about": about(now),
        "instructions": conversation.system_prompt.strip(),
        "style": style(),
    }
    yield render_to_string("conversations/export/head.html", head)
    for one in spoken(content):
        yield render_to_string("conversations/export/spoken.html", _shown(one))
    yield render_to_string("conversations/export/tail.html")


@cache
def style() -> SafeString:
    """The style sheets in one element, with no address in them. Pages of the product have none: this is a file."""
    folder = settings.BASE_DIR / "static" / "css"
    sheets = "\n".join((folder / f"{name}.css").read_text() for name in STYLES)
    return mark_safe(f"<style>{_FONT_FACE.sub('', sheets)}</style>")  # noqa: S308 - files of the product


def _shown(one: Spoken) -> dict[str, object]:
    return {
        "speaker": one.speaker,
        "at": one.at,
        "moment": moment(one.at),
        "is_person": one.is_person,
        "parts": [_part(part, is_person=one.is_person) for part in one.parts],
        "notes": one.notes,
    }


def _part(part: Part, *, is_person: bool) -> dict[str, object]:
    match part:
        case Words():
            return {"html": render_plain(part.text) if is_person else render_markdown(part.text)}
        case CallLine():
            return {"call": part}
        case Image():
            return {"picture": _address(part), "is_picture": True}


def _address(picture: Image) -> str:
    """The picture itself, as an address; empty where no browser could show it."""
    found = readable(picture)
    return f"data:{found.media_type};base64,{b64encode(found.data).decode()}" if found else ""
