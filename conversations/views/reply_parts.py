"""A reply as a page shows it: words, and a line for each call of a tool, in their order."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from conversations.blocks import call_block, calls_in, results_in
from conversations.models import Message
from conversations.providers.values import ToolCall, ToolResult
from conversations.rendering import render_markdown
from conversations.tools.labels import label_of


@dataclass(frozen=True)
class Words:
    html: SafeString


@dataclass(frozen=True)
class CallLine:
    """A call: `status` is running, done, failed or unfinished."""

    id: str = ""
    status: str = "running"
    label: str = ""
    arguments: str = ""
    result: str = ""


Part = Words | CallLine


def parts_of(messages: Iterable[Message], *, is_live: bool) -> Iterator[Part]:
    """A call without a result still runs, or never came to its end."""
    messages = list(messages)
    results = {result.call_id: result for message in messages for result in results_in(message.content)}
    for message in messages:
        if message.role != Message.Role.ASSISTANT:
            continue
        if message.text.strip():
            yield Words(render_markdown(message.text))
        for call in calls_in(message.content):
            yield _line(call, results, is_live=is_live)


def _line(call: ToolCall, results: Mapping[str, ToolResult], *, is_live: bool) -> CallLine:
    result = results.get(call.id)
    status = _status(result, is_live=is_live)
    arguments = call_block(call)["input"]
    return CallLine(
        id=call.id,
        status=status,
        label=label_of(call.name, arguments, status),
        arguments=_shown(arguments),
        result=result.text if result else "",
    )


def _status(result: ToolResult | None, *, is_live: bool) -> str:
    if result is None:
        return "running" if is_live else "unfinished"
    return "failed" if result.is_error else "done"


def _shown(arguments: Any) -> str:
    """As they are read: an object over lines, anything else as the model wrote it; nothing for none."""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False, indent=2) if arguments else ""
