"""A reply as a page shows it: words, pictures, and a line for each call of a tool, in their order."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.utils.safestring import SafeString

from conversations.models import Message
from conversations.rendering import render_markdown
from conversations.tools.lines import CallLine, lines_of, results_by_call
from conversations.views.pictures import addresses_of


@dataclass(frozen=True)
class Words:
    html: SafeString


@dataclass(frozen=True)
class Pictures:
    pictures: list[str]
    """Their addresses."""


Part = Words | Pictures | CallLine


def parts_of(messages: Iterable[Message], *, is_live: bool) -> Iterator[Part]:
    """A call without a result still runs, or never came to its end."""
    messages = list(messages)
    results = results_by_call(message.content for message in messages)
    for message in messages:
        if message.role != Message.Role.ASSISTANT:
            continue
        if message.text.strip():
            yield Words(render_markdown(message.text))
        if pictures := addresses_of(message):
            yield Pictures(pictures)
        yield from lines_of(message.content, results, is_live=is_live)
