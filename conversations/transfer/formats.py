"""What a conversation can be exported as: how it is written, the kind and the ending of its file."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from conversations.models import Conversation
from conversations.transfer import as_html, as_json, as_markdown, as_text
from conversations.transfer.content import Content
from conversations.transfer.names import safe_name


class Written(Protocol):
    def __call__(self, content: Content, *, now: datetime) -> Iterator[str]: ...


@dataclass(frozen=True)
class Format:
    """`label` names it for people."""

    name: str
    label: str
    ending: str
    content_type: str
    written: Written

    def file_name(self, conversation: Conversation) -> str:
        day = f"Conversation of {conversation.created_at:%Y-%m-%d}"
        return f"{safe_name(conversation.title, otherwise=day)}.{self.ending}"


FORMATS = {
    one.name: one
    for one in (
        Format("markdown", "Markdown", "md", "text/markdown; charset=utf-8", as_markdown.written),
        Format("html", "Web page (HTML)", "html", "text/html; charset=utf-8", as_html.written),
        Format("text", "Plain text", "txt", "text/plain; charset=utf-8", as_text.written),
        Format("json", "JSON, with all versions", "json", "application/json", as_json.written),
    )
}
