"""Conversations as Claude gives them out: `conversations.json`, a list with `chat_messages`.

There is no published description. Newer files name each message's parent, and the order of the list then means
nothing; in older ones it is the thread. A message has `content`, blocks as in Anthropic's API, and `text`, which older
files have alone.
"""

import html
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from conversations.blocks import Block
from conversations.transfer.incoming.containers import Container
from conversations.transfer.incoming.limits import Unfit
from conversations.transfer.incoming.reading import items, mapping, moment, said, text, thought
from conversations.transfer.incoming.trees import Node, grown
from conversations.transfer.incoming.values import NewConversation, Role

NAME = "claude"
LABEL = "Claude"
BEGINNING = "00000000-0000-4000-8000-000000000000"
"""The parent of a first message."""


def is_one(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


def read(value: dict[str, Any], container: Container, *, now: datetime) -> NewConversation:  # noqa: ARG001  # no pictures
    """Raises `Unfit`."""
    reader = _Reader(now, text(value.get("model")))
    begun = moment(value.get("created_at"), now=now) or now
    messages = [mapping(one) for one in value["chat_messages"]]
    nodes = reader.linked(
        node for number, parent in _places(messages) for node in reader.nodes(number, parent, messages[number])
    )
    head = text(value.get("current_leaf_message_uuid"))
    grew = grown(nodes, head=reader.ends.get(head), begun=begun)
    if not grew.messages:
        raise Unfit("There is nothing in it that was said.")
    last = moment(value.get("updated_at"), now=now)
    return NewConversation(
        source=NAME,
        source_id=text(value.get("uuid")),
        title=text(value.get("name")),
        created_at=begun,
        last_activity_at=last or max(message.created_at for message in grew.messages),
        messages=grew.messages,
        turns=grew.turns,
        head=grew.head,
        pinned=bool(value.get("is_starred")),
        notes=(f"{reader.missing:,} attached files are not in the file.",) if reader.missing else (),
    )


def _places(messages: list[dict[str, Any]]) -> Iterator[tuple[int, str | None]]:
    """Each message, with the key of the one it follows."""
    has_parents = any(text(one.get("parent_message_uuid")) for one in messages)
    before: str | None = None
    for number, one in enumerate(messages):
        parent = text(one.get("parent_message_uuid"))
        yield number, (parent if parent != BEGINNING else None) if has_parents else before
        before = _key(number, one)


def _key(number: int, message: dict[str, Any]) -> str:
    return text(message.get("uuid")) or f"#{number}"


class _Reader:
    """A message of theirs holds calls and results between its words: a chain of ours, in order."""

    def __init__(self, now: datetime, model: str) -> None:
        self._now, self._model = now, model
        self.missing = 0
        self.ends: dict[str, str] = {}
        """The last node of each message."""

    def nodes(self, number: int, parent: str | None, message: dict[str, Any]) -> Iterator[Node]:
        key = _key(number, message)
        role: Role = "user" if text(message.get("sender")) in ("human", "user") else "assistant"
        at = moment(message.get("created_at"), now=self._now)
        bare = Node("", None, role, at=at, model="" if role == "user" else self._model)
        above = parent
        blocks = self._blocks(key, message, role)
        parts: list[tuple[Role, tuple[Block, ...]]] = [(role, blocks)] if role == "user" else list(_split(blocks))
        for place, (whose, some) in enumerate(parts or [(role, ())]):
            name = key if place == 0 else f"{key}#{place}"
            stopped = role == "assistant" and text(message.get("stop_reason")) == "user_canceled"
            yield replace(bare, key=name, parent=above, role=whose, blocks=some, was_stopped=stopped)
            above = name
        self.ends[key] = above or key

    def linked(self, nodes: Iterable[Node]) -> list[Node]:
        """A child names a message, which may stand in the list behind it: it hangs off the last part of that."""
        found = list(nodes)
        ends = self.ends
        return [
            replace(node, parent=ends.get(node.parent or "", node.parent)) if node.key in ends else node
            for node in found
        ]

    def _blocks(self, key: str, message: dict[str, Any], role: Role) -> tuple[Block, ...]:
        content = [mapping(one) for one in items(message.get("content"))]
        blocks = tuple(block for place, one in enumerate(content) for block in _block(f"{key}:{place}", one))
        if not any(block["type"] != "thinking" for block in blocks):
            blocks += said(text(message.get("text")))
        return blocks + self._attached(message) if role == "user" else blocks

    def _attached(self, message: dict[str, Any]) -> tuple[Block, ...]:
        """What was read of attachments is what the model was told of them."""
        found: list[Block] = []
        for one in map(mapping, items(message.get("attachments"))):
            name = html.escape(text(one.get("file_name")) or "text", quote=True)
            if words := text(one.get("extracted_content")):
                found += said(f'\n\n<document name="{name}">\n{words}\n</document>')
        files = {text(one.get("file_name")) for one in map(mapping, items(message.get("files")))}
        read = {text(one.get("file_name")) for one in map(mapping, items(message.get("attachments")))}
        for name in sorted(files - read - {""}):
            self.missing += 1
            found += said(f"\n\n*(A file that was not in the archive: {name})*")
        return tuple(found)


def _block(key: str, one: dict[str, Any]) -> tuple[Block, ...]:
    kind = text(one.get("type"))
    if kind == "text":
        return said(text(one.get("text")))
    if kind == "thinking":
        return thought(text(one.get("thinking")))
    if kind == "tool_use":
        call = text(one.get("id")) or key
        given = one.get("input")
        return ({"type": "tool_use", "id": call, "name": text(one.get("name")) or "tool", "input": given or {}},)
    if kind == "tool_result":
        return (
            {
                "type": "tool_result",
                "tool_use_id": text(one.get("tool_use_id")),
                "name": text(one.get("name")) or "tool",
                "content": _result(one.get("content")),
                "is_error": bool(one.get("is_error")),
            },
        )
    return ()


def _result(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [mapping(one) for one in items(content)]
    words = [text(one.get("text")) or text(one.get("title")) for one in parts]
    if any(words):
        return "\n\n".join(filter(None, words))
    return json.dumps(content, ensure_ascii=False) if content else ""


def _split(blocks: tuple[Block, ...]) -> Iterator[tuple[Role, tuple[Block, ...]]]:
    """Runs of what the assistant said and of what tools returned; a result without its call gets one."""
    said_so_far: list[Block] = []
    results: list[Block] = []
    calls: dict[str, None] = {}
    """In order; and whether there is one."""
    for block in blocks:
        if block["type"] != "tool_result":
            if results:
                yield "tool", tuple(results)
                results = []
            said_so_far.append(block)
            if block["type"] == "tool_use":
                calls[block["id"]] = None
            continue
        named = block["tool_use_id"]
        if named not in calls:
            if not named and calls:
                block["tool_use_id"] = next(reversed(calls))
            else:
                call = named or f"call-{len(calls)}"
                if results:
                    yield "tool", tuple(results)
                    results = []
                said_so_far.append({"type": "tool_use", "id": call, "name": block["name"], "input": {}})
                block["tool_use_id"] = call
                calls[call] = None
        if said_so_far:
            yield "assistant", tuple(said_so_far)
            said_so_far = []
        results.append(block)
    if results:
        yield "tool", tuple(results)
    if said_so_far:
        yield "assistant", tuple(said_so_far)
