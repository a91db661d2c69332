"""What real providers refuse of a request, in each dialect: the first rule that is broken is named.

From the APIs' references and from refusals as they were met; a request that passes here is taken there.
"""

import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from typing import Any

from tests.provider.dialect import Json
from tests.provider.replies import Body

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
ANTHROPIC_ID = re.compile(r"[A-Za-z0-9_-]+")
OPENAI_ID_CHARACTERS = 40
FORMATS = {"image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8", "image/webp": b"RIFF"}
DATA_URL = re.compile(r"data:([^;,]+);base64,(.*)", re.DOTALL)
OPENAI_ROLES = ("system", "developer", "user", "assistant", "tool")


def broken_by_openai(body: Body) -> str:
    """The first rule of chat completions that a request breaks; empty when it breaks none."""
    return next(_openai_faults(body), "")


def broken_by_anthropic(body: Body) -> str:
    """The same for messages."""
    return next(_anthropic_faults(body), "")


def _openai_faults(body: Body) -> Iterator[str]:
    messages = _messages(body)
    if not messages:
        yield "[] is too short - 'messages'"
    if body.get("tools") == []:
        yield "[] is too short - 'tools'"
    if "tool_choice" in body and not body.get("tools"):
        yield "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
    for limit in ("max_tokens", "max_completion_tokens"):
        if body.get(limit) is not None and body[limit] < 1:
            yield f"Invalid '{limit}': integer below minimum value."
    yield from _bad_names(_names(body, lambda tool: tool["function"]["name"]))
    for message in messages:
        yield from _openai_message_faults(message)
    yield from _openai_tool_faults(messages)


def _openai_message_faults(message: Json) -> Iterator[str]:
    role, content = message.get("role"), message.get("content")
    if role not in OPENAI_ROLES:
        yield f"Invalid value: {role!r}."
    if content is None and not (role == "assistant" and message.get("tool_calls")):
        yield f"Invalid value for 'content' of a message of {role}: expected a string, got null."
    if isinstance(content, list) and not content:
        yield "[] is too short - 'content'"
    if message.get("tool_calls") == []:
        yield "[] is too short - 'tool_calls'"
    for part in content if isinstance(content, list) else []:
        if part.get("type") not in ("text", "image_url", "input_audio", "file", "refusal"):
            yield f"Invalid value: {part.get('type')!r}."
        if part.get("type") == "image_url":
            yield from _openai_image_faults(role, part["image_url"]["url"])


def _openai_image_faults(role: object, url: str) -> Iterator[str]:
    if role != "user":
        yield "Image URLs are only allowed for messages with role 'user'."
    if url.startswith("data:"):
        found = DATA_URL.fullmatch(url)
        if not found or not _is_image(found[1], found[2]):
            yield "You uploaded an unsupported image. Please make sure your image is valid."


def _openai_tool_faults(messages: list[Json]) -> Iterator[str]:
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
        yield from ("Invalid id: string too long." for call_id in waiting if len(call_id) > OPENAI_ID_CHARACTERS)
        yield from _bad_names([call["function"]["name"] for call in calls])
        yield from ("Arguments are a JSON object." for call in calls if not _is_object(call["function"]["arguments"]))
    if waiting:
        yield f"These tool_call_ids did not have response messages: {', '.join(waiting)}."


def _anthropic_faults(body: Body) -> Iterator[str]:
    messages = _messages(body)
    if not messages:
        yield "messages: at least one message is required"
        return
    if messages[0].get("role") != "user":
        yield 'messages: first message must use the "user" role'
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        yield "max_tokens: must be greater than or equal to 1"
    yield from _empty_system(body.get("system"))
    has_parts = any(kind in json.dumps(messages) for kind in ('"tool_use"', '"tool_result"'))
    if has_parts and not body.get("tools"):
        yield "Requests which include tool_use or tool_result blocks must define tools."
    if body.get("tool_choice") and not body.get("tools"):
        yield "tool_choice: may only be specified while providing tools."
    yield from _bad_names(_names(body, lambda tool: tool["name"]))
    for number, message in enumerate(messages):
        yield from _anthropic_message_faults(message, is_last=number == len(messages) - 1)
    yield from _anthropic_tool_faults(messages)


def _empty_system(system: object) -> Iterator[str]:
    blocks = system if isinstance(system, list) else []
    if any(not block.get("text", "").strip() for block in blocks):
        yield "system: text content blocks must contain non-whitespace text"


def _anthropic_message_faults(message: Json, *, is_last: bool) -> Iterator[str]:
    role, content = message.get("role"), message.get("content")
    if role not in ("user", "assistant"):
        yield f"messages: Unexpected role {role!r}. The Messages API accepts a top-level `system` parameter."
    blocks: list[Json] = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    may_be_empty = is_last and role == "assistant"
    if not may_be_empty and (not blocks or content == ""):
        yield "messages: all messages must have non-empty content except for the optional final assistant message"
    texts = [block["text"] for block in blocks if block.get("type") == "text"]
    if any(not text.strip() for text in texts):
        yield "messages: text content blocks must contain non-whitespace text"
    if may_be_empty and texts and texts[-1] != texts[-1].rstrip():
        yield "messages: final assistant content cannot end with trailing whitespace"
    yield from _order_faults(blocks)
    for block in blocks:
        if block.get("type") == "image":
            yield from _anthropic_image_faults(role, block.get("source") or {})


def _order_faults(blocks: list[Json]) -> Iterator[str]:
    """Results come first in a message, whatever else is in it."""
    kinds = [block.get("type") == "tool_result" for block in blocks]
    if kinds != sorted(kinds, reverse=True):
        yield "messages: tool_result blocks must come first in the content"


def _anthropic_image_faults(role: object, source: Json) -> Iterator[str]:
    if role != "user":
        yield "messages: images are only allowed in the user's messages"
    if source.get("type") == "base64" and not _is_image(source.get("media_type", ""), source.get("data", "")):
        yield "messages: Could not process image"


def _anthropic_tool_faults(messages: list[Json]) -> Iterator[str]:
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages:
        blocks = message["content"] if isinstance(message.get("content"), list) else []
        results = [block["tool_use_id"] for block in blocks if block.get("type") == "tool_result"]
        if sorted(results) != sorted(waiting):
            yield "Each tool_use block must have a tool_result block in the next message, and no other may be there."
        calls = [block for block in blocks if block.get("type") == "tool_use"]
        if calls and message.get("role") != "assistant":
            yield "tool_use blocks can only be in assistant messages"
        waiting = [block["id"] for block in calls]
        yield from _bad_ids(waiting, seen)
        yield from ("tool_use.id: String should match pattern" for one in waiting if not ANTHROPIC_ID.fullmatch(one))
        yield from _bad_names([block["name"] for block in calls])
        yield from ("The input is an object." for block in calls if not isinstance(block["input"], dict))
    if waiting:
        yield "tool_use blocks without tool_result blocks."


def _is_image(media_type: str, data: str) -> bool:
    """Its bytes are what is said of them; both refuse what is not."""
    try:
        content = b64decode(data, validate=True)
    except ValueError:
        return False
    return media_type in FORMATS and content.startswith(FORMATS[media_type])


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
