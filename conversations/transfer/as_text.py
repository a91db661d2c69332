"""A conversation as plain text: the active branch, dated, a line for each call of a tool."""

from collections.abc import Iterator
from datetime import datetime

from conversations.providers.values import Image
from conversations.tools.lines import CallLine
from conversations.transfer.as_markdown import picture_line
from conversations.transfer.content import Content
from conversations.transfer.headings import about, title_of
from conversations.transfer.spoken import Part, Words, moment, spoken


def written(content: Content, *, now: datetime) -> Iterator[str]:
    title = title_of(content.conversation)
    yield f"{title}\n{'=' * min(len(title), 70)}\n\n{about(now)}\n"
    if prompt := content.conversation.system_prompt.strip():
        yield f"\nInstructions\n\n{prompt}\n"
    for one in spoken(content):
        yield f"\n\n{one.speaker} · {moment(one.at)}\n"
        for part in one.parts:
            yield f"\n{_part(part)}\n"
        for note in one.notes:
            yield f"\n[{note}]\n"


def _part(part: Part) -> str:
    match part:
        case Words():
            return part.text.strip("\n")
        case CallLine():
            return f"[{part.label}]"
        case Image():
            return f"[{picture_line(part)}]"
