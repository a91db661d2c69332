"""A stored transcript in the form every provider accepts.

System first, then the roles in turns, no empty text; every call of a tool has exactly one result right behind it, and
no result stands without its call, whatever was stored.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from conversations.context.values import Abilities, StoredMessage
from conversations.providers.values import ChatMessage, ToolCall, ToolResult, safe_name

NO_RESULT = "There is no result: the call was broken off."
NOTHING = "Nothing was returned."
NO_IMAGE = "[An image is left out: this model takes none.]"


def as_chat(system_prompt: str, sent: Sequence[StoredMessage], *, abilities: Abilities) -> tuple[ChatMessage, ...]:
    """Two questions stand in a row where the reply between them failed; they are sent as one.

    For a model without tools, calls and results become text: it still knows what they brought. For one without
    images, a note stands in the place of each; so it does for those of an assistant, which no provider takes back.
    """
    chat = [ChatMessage("system", system_prompt)] if system_prompt.strip() else []
    for message in _closed(one if abilities.images and one.role == "user" else _without_images(one) for one in sent):
        for part in [message] if abilities.tools else _as_text(message):
            _append(chat, part)
    return tuple(chat)


def _closed(sent: Iterable[StoredMessage]) -> list[ChatMessage]:
    """Messages with something to say; behind each that calls tools stands one with a result for every call."""
    messages: list[ChatMessage] = []
    waiting: dict[str, ToolCall] = {}
    for stored in sent:
        if stored.role == "tool":
            _fill(messages, waiting, stored.results)
        elif (said := _said(stored)) is not None:
            # Results name the call as it was stored; as it is sent its id is one that no other call has.
            waiting = {call.id: sent for call, sent in zip(stored.calls, said.calls, strict=False)}
            messages.append(said)
            if said.calls:
                messages.append(ChatMessage("tool", "", results=tuple(_broken_off(call) for call in said.calls)))
    return messages


def _without_images(stored: StoredMessage) -> StoredMessage:
    if not stored.images:
        return stored
    words = [stored.text] if stored.text.strip() else []
    return replace(stored, text="\n\n".join([*words, *(NO_IMAGE for _ in stored.images)]), images=())


def _said(stored: StoredMessage) -> ChatMessage | None:
    """None for a message with nothing to say. Ids are given anew: providers' own repeat, and what one writes another
    refuses."""
    text = stored.text if stored.text.strip() else ""
    if stored.role == "user":
        return ChatMessage("user", text, images=stored.images) if text or stored.images else None
    if stored.role != "assistant" or not (text or stored.calls):
        return None
    if stored.native is not None:
        return ChatMessage("assistant", text, calls=stored.calls, native=stored.native)
    calls = tuple(
        ToolCall(f"tool_{stored.id}_{number}", safe_name(call.name), call.arguments)
        for number, call in enumerate(stored.calls)
    )
    return ChatMessage("assistant", text, calls=calls)


def _fill(messages: list[ChatMessage], waiting: dict[str, ToolCall], results: Iterable[ToolResult]) -> None:
    """Put results in the places of the calls that wait for them; the others are nobody's."""
    for result in results:
        if (call := waiting.pop(result.call_id, None)) is None:
            continue
        placed = replace(result, call_id=call.id, name=call.name, text=result.text if result.text.strip() else NOTHING)
        merged = tuple(placed if one.call_id == call.id else one for one in messages[-1].results)
        messages[-1] = replace(messages[-1], results=merged)


def _broken_off(call: ToolCall) -> ToolResult:
    return ToolResult(call.id, call.name, NO_RESULT, is_error=True)


def _as_text(message: ChatMessage) -> list[ChatMessage]:
    """The results of calls as a note from our side, so that no model takes them for its own way of writing."""
    if message.role == "tool":
        notes = [f"[Result of the tool {result.name}: {result.text}]" for result in message.results]
        return [ChatMessage("user", "\n\n".join(notes))]
    if not (message.text.strip() or message.images):
        return []
    return [replace(message, calls=(), native=None)] if message.calls or message.native is not None else [message]


def _append(chat: list[ChatMessage], message: ChatMessage) -> None:
    last = chat[-1].role if chat else "system"
    if last == "system" and message.role != "user":
        return  # What it answers has no words.
    if message.role == last and message.role in ("user", "assistant"):
        images = (*chat[-1].images, *message.images)
        chat[-1] = replace(message, text=f"{chat[-1].text}\n\n{message.text}".strip(), images=images)
    else:
        chat.append(message)
