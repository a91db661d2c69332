"""Images on their way to a provider: what can be read is sent, what cannot breaks nothing."""

import asyncio
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.assemble import as_turns, assemble
from conversations.context.transcript import NO_IMAGE
from conversations.context.values import Budget, Past, StoredMessage, SystemPrompt
from conversations.providers.pictures import MOST_BYTES, UNREADABLE, readable
from conversations.providers.values import ChatMessage, ChatRequest, Finished, Image
from tests.conversations.providers.test_chat import model_of
from tests.provider import ScriptedProvider


def encoded(content: bytes) -> str:
    return b64encode(content).decode()


PNG = encoded(b"\x89PNG\r\n\x1a\n and so on")
FORMATS = {
    "image/png": PNG,
    "image/jpeg": encoded(b"\xff\xd8\xff\xe0 and so on"),
    "image/gif": encoded(b"GIF89a and so on"),
    "image/webp": encoded(b"RIFF\x10\x00\x00\x00WEBPVP8 "),
}


def ask(dialect: str, provider: ScriptedProvider, *messages: ChatMessage) -> list[dict[str, Any]]:
    """The messages as the provider received them; it took them."""

    async def answered() -> Any:
        model = model_of(dialect, provider)
        async with model.connections():
            return [event async for event in model.stream(ChatRequest(messages, max_tokens=100))][-1]

    assert isinstance(asyncio.run(answered()), Finished)
    received: list[dict[str, Any]] = provider.requests[-1].body["messages"]
    return received


def shown(dialect: str, message: dict[str, Any]) -> list[tuple[str, str]]:
    """The kinds of a message's parts, and what they hold."""
    content = message["content"]
    parts: list[dict[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [
        ("image", part["image_url"]["url"])
        if part["type"] == "image_url"
        else ("image", f"data:{part['source']['media_type']};base64,{part['source']['data']}")
        if part["type"] == "image"
        else ("text", part["text"])
        for part in parts
    ]


@pytest.mark.parametrize("media_type", FORMATS)
def test_an_image_reaches_the_provider_with_its_words(
    dialect: str, provider: ScriptedProvider, media_type: str
) -> None:
    data = FORMATS[media_type]
    received = ask(dialect, provider, ChatMessage("user", "What is it?", images=(Image(media_type, data),)))
    assert shown(dialect, received[-1]) == [
        ("image", f"data:{media_type};base64,{data}"),
        ("text", "What is it?"),
    ]


def test_an_image_may_come_without_words(dialect: str, provider: ScriptedProvider) -> None:
    received = ask(dialect, provider, ChatMessage("user", "", images=(Image("image/png", PNG),)))
    assert [kind for kind, _ in shown(dialect, received[-1])] == ["image"]


def test_a_format_is_what_the_bytes_say(dialect: str, provider: ScriptedProvider) -> None:
    received = ask(dialect, provider, ChatMessage("user", "Why?", images=(Image("image/jpeg", PNG),)))
    assert shown(dialect, received[-1])[0] == ("image", f"data:image/png;base64,{PNG}")


@pytest.mark.parametrize(
    "image",
    [
        Image("image/png", "%%% no base64"),
        Image("image/png", PNG[:-1]),
        Image("image/png", ""),
        Image("image/svg+xml", encoded(b"<svg/>")),
        Image("image/bmp", encoded(b"BM and so on")),
        Image("application/pdf", encoded(b"%PDF-1.7")),
        Image("image/png", "ünïcode"),
        Image("image/png", encoded(b"\x89PNG\r\n\x1a\n" + b"\0" * MOST_BYTES)),
    ],
)
def test_one_that_cannot_be_read_leaves_a_note(dialect: str, provider: ScriptedProvider, image: Image) -> None:
    received = ask(dialect, provider, ChatMessage("user", "Why?", images=(image, Image("image/png", PNG))))
    assert [text for kind, text in shown(dialect, received[-1]) if kind == "text"] == [UNREADABLE, "Why?"]


def test_base64_may_be_broken_into_lines() -> None:
    assert readable(Image("image/png", f"{PNG[:5]}\n{PNG[5:]}\n")) == readable(Image("image/png", PNG))


@given(st.text(), st.text(max_size=20))
def test_whatever_is_stored_as_an_image_can_be_looked_at(media_type: str, data: str) -> None:
    readable(Image(media_type, data))


def assembled(*branch: StoredMessage, takes_images: bool) -> ChatRequest:
    return assemble(
        Past(as_turns(branch)),
        StoredMessage(10_000, "user", "And?", 10),
        system=SystemPrompt("Be brief.", 5),
        budget=Budget(window=8000, reply=100, history=6000),
        takes_images=takes_images,
    ).request


BRANCH = (
    StoredMessage(1, "user", "", 10, images=(Image("image/png", PNG),)),
    StoredMessage(2, "assistant", "A bee. ", 10, images=(Image("image/png", PNG),)),
)


def test_history_with_images_is_taken_by_a_model_that_sees(dialect: str, provider: ScriptedProvider) -> None:
    received = ask(dialect, provider, *assembled(*BRANCH, takes_images=True).messages)
    first, second, _ = (shown(dialect, one) for one in received if one["role"] != "system")
    assert [kind for kind, _ in first] == ["image"]
    assert NO_IMAGE in second[0][1], "no provider takes back an assistant's"


def test_a_model_that_does_not_see_gets_a_note(dialect: str, provider: ScriptedProvider) -> None:
    received = ask(dialect, provider, *assembled(*BRANCH, takes_images=False).messages)
    parts = [part for one in received if one["role"] != "system" for part in shown(dialect, one)]
    assert parts[0] == ("text", NO_IMAGE)
    assert {kind for kind, _ in parts} == {"text"}
