"""What real providers refuse: calls of tools without results, results without calls, names and ids nobody takes."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.provider.dialect import Json
from tests.provider.replies import Body

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def broken_by_openai(body: Body) -> str:
    """The first rule of chat completions that a request breaks; empty when it breaks none."""
    return next(_openai_faults(_messages(body), _names(body, lambda tool: tool["function"]["name"])), "")


def broken_by_anthropic(body: Body) -> str:
    """The same for messages."""
    messages = _messages(body)
    if messages and messages[0].get("role") != "user":
        return "The first message must be the user's."
    has_parts = any(kind in json.dumps(messages) for kind in ('"tool_use"', '"tool_result"'))
    if has_parts and not body.get("tools"):
        return "Requests which include tool_use or tool_result blocks must define tools."
    return next(_anthropic_faults(messages, _names(body, lambda tool: tool["name"])), "")


def _openai_faults(messages: list[Json], names: list[str]) -> Iterator[str]:
    yield from _bad_names(names)
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in waiting:
                yield "A message with role 'tool' must follow a message with its tool call."
                return
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            yield f"These tool_call_ids did not have response messages: {', '.join(waiting)}."
        calls = message.get("tool_calls") or []
        waiting = [call["id"] for call in calls]
        yield from _bad_ids(waiting, seen)
        yield from _bad_names([call["function"]["name"] for call in calls])
        yield from ("Arguments are a JSON object." for call in calls if not _is_object(call["function"]["arguments"]))
    if waiting:
        yield f"These tool_call_ids did not have response messages: {', '.join(waiting)}."


def _anthropic_faults(messages: list[Json], names: list[str]) -> Iterator[str]:
    yield from _bad_names(names)
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages:
        blocks = message["content"] if isinstance(message.get("content"), list) else []
        if any(block.get("type") == "text" and not block["text"].strip() for block in blocks):
            yield "Text content blocks must contain non-whitespace text."
        results = [block["tool_use_id"] for block in blocks if block.get("type") == "tool_result"]
        if sorted(results) != sorted(waiting):
            yield "Each tool_use block must have a tool_result block in the next message, and no other may be there."
        calls = [block for block in blocks if block.get("type") == "tool_use"]
        waiting = [block["id"] for block in calls]
        yield from _bad_ids(waiting, seen)
        yield from _bad_names([block["name"] for block in calls])
        yield from ("The input is an object." for block in calls if not isinstance(block["input"], dict))
    if waiting:
        yield "tool_use blocks without tool_result blocks."


def _bad_ids(ids: list[str], seen: set[str]) -> Iterator[str]:
    for one in ids:
        if not one or one in seen:
            yield "tool_use ids must be unique."
        seen.add(one)


def _bad_names(names: list[str]) -> Iterator[str]:
    yield from (f"{name!r} is no name of a tool." for name in names if not NAME.fullmatch(name))


def _names(body: Body, name_of: Callable[[Any], str]) -> list[str]:
    return [name_of(tool) for tool in body.get("tools") or [] if isinstance(tool, dict)]


def _messages(body: Body) -> list[Json]:
    messages = body.get("messages")
    return [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except ValueError:
        return False
