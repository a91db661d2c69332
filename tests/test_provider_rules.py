"""The scripted provider refuses what real ones refuse: a request that it takes is taken there, too."""

from typing import Any

import pytest

from tests.provider.rules import broken_by_anthropic, broken_by_openai

PNG = "iVBORw0KGgo="
TOOL = {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}
FUNCTION = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


def user(content: Any = "Why?") -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: Any = "So.", **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def used(call_id: str = "a", name: str = "look") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}}


def result(call_id: str = "a") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "seen"}


def image(media_type: str = "image/png", data: str = PNG) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def linked(url: str = f"data:image/png;base64,{PNG}") -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def called(call_id: str = "a", name: str = "look", arguments: str = "{}") -> dict[str, Any]:
    return assistant(None, tool_calls=[{"id": call_id, "function": {"name": name, "arguments": arguments}}])


def returned(call_id: str = "a") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "seen"}


def messages(*given: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"max_tokens": 10, "messages": list(given), **more}


@pytest.mark.parametrize(
    "body",
    [
        messages(user()),
        messages(user(), user("And?")),
        messages(user([text("Why?"), image()]), assistant(), user()),
        messages(user(), assistant([text("Hm."), used()]), user([result(), text("And?")]), tools=[TOOL]),
        messages(user(), assistant("So")),
        messages(user(), system=[text("Be brief.")], tools=[TOOL], tool_choice={"type": "none"}),
    ],
)
def test_anthropic_takes_what_is_sound(body: dict[str, Any]) -> None:
    assert broken_by_anthropic(body) == ""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (messages(), "at least one message"),
        (messages(assistant()), 'must use the "user" role'),
        (messages(user(), max_tokens=0), "max_tokens"),
        (messages(user(), system=[text(" ")]), "system: text content blocks"),
        (messages(user(), {"role": "system", "content": "Be brief."}), "Unexpected role"),
        (messages(user("")), "non-empty content"),
        (messages(user([])), "non-empty content"),
        (messages(user(" \n")), "non-whitespace text"),
        (messages(user([text("")])), "non-whitespace text"),
        (messages(user(), assistant("So. ")), "trailing whitespace"),
        (messages(user(), assistant([used()]), user([result()])), "must define tools"),
        (messages(user(), tool_choice={"type": "auto"}), "tool_choice"),
        (messages(user(), tools=[TOOL | {"name": "a b"}]), "no name of a tool"),
        (messages(user(), assistant([used("a.b")]), user([result("a.b")]), tools=[TOOL]), "match pattern"),
        (messages(user(), assistant([used()]), user("And?"), tools=[TOOL]), "must have a tool_result"),
        (messages(user(), assistant([used()]), tools=[TOOL]), "without tool_result"),
        (messages(user([result()]), tools=[TOOL]), "no other may be there"),
        (messages(user(), assistant([used()]), user([text("And?"), result()]), tools=[TOOL]), "must come first"),
        (messages(user(), assistant([used(), used()]), user([result(), result()]), tools=[TOOL]), "unique"),
        (messages(user([used()]), user([result()]), tools=[TOOL]), "only be in assistant"),
        (messages(user([image("image/bmp")])), "Could not process image"),
        (messages(user([image("image/jpeg")])), "Could not process image"),
        (messages(user([image(data="%%%")])), "Could not process image"),
        (messages(user(), assistant([image()]), user()), "only allowed in the user's"),
    ],
)
def test_anthropic_refuses_what_is_not(body: dict[str, Any], words: str) -> None:
    assert words in broken_by_anthropic(body)


@pytest.mark.parametrize(
    "body",
    [
        messages(user()),
        messages({"role": "system", "content": "Be brief."}, user(), assistant(), assistant(), user()),
        messages(user([text("Why?"), linked()])),
        messages(user([linked("https://example.org/bee.png")])),
        messages(user(), called(), returned(), user(), tools=[FUNCTION], tool_choice="none"),
    ],
)
def test_openai_takes_what_is_sound(body: dict[str, Any]) -> None:
    assert broken_by_openai(body) == ""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (messages(), "too short - 'messages'"),
        (messages(user(), tools=[]), "too short - 'tools'"),
        (messages(user(), tool_choice="auto"), "only allowed when 'tools'"),
        (messages(user(), max_tokens=0), "Invalid 'max_tokens'"),
        (messages({"role": "narrator", "content": "Once"}), "Invalid value: 'narrator'"),
        (messages(user(None)), "got null"),
        (messages(user(), assistant(None)), "got null"),
        (messages(user([])), "too short - 'content'"),
        (messages(user(), assistant("So.", tool_calls=[])), "too short - 'tool_calls'"),
        (messages(user([image()])), "Invalid value: 'image'"),
        (messages(user([linked("data:image/bmp;base64," + PNG)])), "unsupported image"),
        (messages(user([linked("data:image/png;base64,%%%")])), "unsupported image"),
        (messages(user(), assistant([linked()])), "only allowed for messages with role 'user'"),
        (messages(user(), called()), "did not have response messages"),
        (messages(user(), called(), user()), "did not have response messages"),
        (messages(user(), returned()), "must follow a message with its tool call"),
        (messages(user(), called("x" * 41), returned("x" * 41)), "string too long"),
        (messages(user(), called(name="bad name"), returned()), "no name of a tool"),
        (messages(user(), called(arguments="{"), returned()), "JSON object"),
    ],
)
def test_openai_refuses_what_is_not(body: dict[str, Any], words: str) -> None:
    assert words in broken_by_openai(body)
