"""The blocks of a stored message: those of tools made from values, all of them read back, whatever was stored.

`tool_use` {id, name, input}: `input` is the object the tool was called with, or the text the model wrote in its place.
`tool_result` {tool_use_id, name, content, is_error}: `content` is text.
`image` {media_type, data}: `data` are the bytes in base64.
"""

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

from conversations.providers.values import Image, ToolCall, ToolResult

Block = dict[str, Any]

DEEPEST = 50
"""Levels."""


def call_block(call: ToolCall) -> Block:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": _read(call.arguments)}


def result_block(result: ToolResult) -> Block:
    return {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "name": result.name,
        "content": result.text,
        "is_error": result.is_error,
    }


def calls_in(content: Any) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(_text(block.get("id")), _text(block.get("name")), _written(block.get("input")))
        for block in _blocks(content, "tool_use")
    )


def results_in(content: Any) -> tuple[ToolResult, ...]:
    return tuple(
        ToolResult(
            _text(block.get("tool_use_id")),
            _text(block.get("name")),
            _written(block.get("content")),
            is_error=bool(block.get("is_error")),
        )
        for block in _blocks(content, "tool_result")
    )


def text_in(content: Any) -> str:
    """The words of the text blocks."""
    return "".join(_text(block.get("text")) for block in _blocks(content, "text"))


def images_in(content: Any) -> tuple[Image, ...]:
    """Those that can be sent; one whose kind or bytes are missing shows nothing."""
    found = ((_text(block.get("media_type")), _text(block.get("data"))) for block in _blocks(content, "image"))
    return tuple(Image(media_type, data) for media_type, data in found if media_type.startswith("image/") and data)


def words_in(content: Any) -> str:
    """All that a model reads of a message: what is counted when nobody else counts."""
    text = text_in(content)
    calls = [f"{call.name} {call.arguments}" for call in calls_in(content)]
    return "\n".join([text, *calls, *(result.text for result in results_in(content))]).strip("\n")


def _blocks(content: Any, kind: str) -> Iterator[Block]:
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and block.get("type") == kind:
            yield block


def _read(arguments: str) -> Any:
    """The object, when it is one that every reader of JSON takes; else the text."""
    try:
        value = json.loads(arguments, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return arguments
    return value if isinstance(value, dict) and not _is_deep(value) else arguments


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _finite(digits: str) -> float:
    if math.isinf(value := float(digits)):
        raise ValueError("too large for a number")
    return value


def _is_deep(value: Any) -> bool:
    """Whether lists and objects are nested deeper than any tool needs, and than some readers manage."""
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return False
    return True


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
