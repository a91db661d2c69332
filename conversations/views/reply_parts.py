"""A reply as a page shows it: words, and a line for each call of a tool, in their order."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.utils.safestring import SafeString

from conversations.models import Message
from conversations.rendering import render_markdown
from conversations.tools.lines import CallLine, lines_of, results_by_call


@dataclass(frozen=True)
class Words:
    html: SafeString


Part = Words | CallLine


def parts_of(messages: Iterable[Message], *, is_live: bool) -> Iterator[Part]:
    """A call without a result still runs, or never came to its end."""
    messages = list(messages)
    results = results_by_call(message.content for message in messages)
    for message in messages:
        if message.role != Message.Role.ASSISTANT:
            continue
        if message.text.strip():
            yield Words(render_markdown(message.text))
        yield from lines_of(message.content, results, is_live=is_live)
