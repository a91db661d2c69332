"""Calls of tools as people read them: a line each, and behind it what was asked and what came back."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conversations.blocks import call_block, calls_in, results_in
from conversations.providers.values import ToolCall, ToolResult
from conversations.tools.labels import label_of


@dataclass(frozen=True)
class CallLine:
    """A call: `status` is running, done, failed or unfinished."""

    id: str = ""
    status: str = "running"
    label: str = ""
    arguments: str = ""
    result: str = ""


def results_by_call(contents: Iterable[Any]) -> dict[str, ToolResult]:
    """What came back, of all messages of a reply."""
    return {result.call_id: result for content in contents for result in results_in(content)}


def lines_of(content: Any, results: Mapping[str, ToolResult], *, is_live: bool) -> Iterator[CallLine]:
    """The calls of one message. One without a result still runs, or never came to its end."""
    for call in calls_in(content):
        yield _line(call, results.get(call.id), is_live=is_live)


def _line(call: ToolCall, result: ToolResult | None, *, is_live: bool) -> CallLine:
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
