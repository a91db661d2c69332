"""Token figures that follow from texts alone: the same conversation costs the same in both dialects, every time."""

import json
from collections.abc import Iterator
from typing import Any

from tests.provider.replies import Body, Reply, Usage

BYTES_A_TOKEN = 4
TOKENS_AROUND_A_MESSAGE = 3


def count_tokens(text: str) -> int:
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_A_TOKEN)


def usage_of(reply: Reply, body: Body) -> Usage:
    """What the reply bills for answering the request: the scripted figures, or those of the texts."""
    if reply.usage is not None:
        return reply.usage
    reasoning = count_tokens(reply.reasoning)
    calls = sum(count_tokens(call.name) + count_tokens(call.arguments) for call in reply.tool_calls)
    output = reasoning + count_tokens(reply.whole_text) + calls
    return Usage(input_tokens=prompt_tokens(body), output_tokens=output, reasoning_tokens=reasoning)


def prompt_tokens(body: Body) -> int:
    """Additive: a message more costs its own text and three tokens more, whatever else is in the request."""
    tools = body.get("tools")
    messages = sum(TOKENS_AROUND_A_MESSAGE + count_tokens(text) for text in _prompt_texts(body))
    return messages + (count_tokens(json.dumps(tools)) if tools else 0)


def newest_question(body: Body) -> str:
    """Text of the newest user message that has any; a user message of tool results alone does not count."""
    questions = (text_of(message) for message in reversed(_messages(body)) if message.get("role") == "user")
    return next((question for question in questions if question), "")


def text_of(message: Body) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(block["text"] for block in blocks if isinstance(block, dict) and "text" in block)


def _prompt_texts(body: Body) -> Iterator[str]:
    """Anthropic keeps the system prompt beside the messages, OpenAI among them."""
    if system := body.get("system"):
        yield text_of({"content": system})
    for message in _messages(body):
        yield text_of(message) + _tool_text(message)


def _tool_text(message: Body) -> str:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    used = [block for block in blocks if isinstance(block, dict) and "text" not in block]
    called = message.get("tool_calls") or []
    return json.dumps([*used, *called]) if used or called else ""


def _messages(body: Body) -> list[dict[str, Any]]:
    messages = body.get("messages")
    return [message for message in messages if isinstance(message, dict)] if isinstance(messages, list) else []
