"""Conversations as ChatGPT gives them out: `conversations.json`, or `conversations-000.json` and so on.

There is no published description; what is known of it was seen in many people's files. A `mapping` of nodes by id,
each with `parent`, `children` and a `message` that may be null; `current_node` is the newest of the branch shown last.
"""

import base64
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from conversations.blocks import Block
from conversations.transfer.incoming.containers import Container
from conversations.transfer.incoming.limits import LIMITS, Unfit
from conversations.transfer.incoming.reading import items, mapping, moment, picture_kind, said, text, thought
from conversations.transfer.incoming.trees import Node, grown
from conversations.transfer.incoming.values import NewConversation

NAME = "chatgpt"
LABEL = "ChatGPT"

CITATION = re.compile("\ue200[^\ue200\ue201]*\ue201|[\ue000-\uf8ff]")
"""Marks of sources, in characters that have no shape: what they stand for is not in the file."""
UNTITLED = {"", "New chat", "New Chat"}
INSTRUCTIONS = ("user_profile", "user_instructions", "model_set_context")
EVERYBODY = {"", "all"}
NOT_SHOWN = {"reasoning_recap", "app_pairing_content"}


def is_one(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def read(value: dict[str, Any], container: Container, *, now: datetime) -> NewConversation:
    """Raises `Unfit`."""
    reader = _Reader(value["mapping"], container, now)
    begun = moment(value.get("create_time"), now=now) or now
    nodes = [node for key, one in value["mapping"].items() for node in reader.nodes(key, mapping(one))]
    grew = grown(nodes, head=text(value.get("current_node")) or None, begun=begun)
    if not grew.messages:
        raise Unfit("There is nothing in it that was said.")
    title = text(value.get("title"))
    last = moment(value.get("update_time"), now=now)
    return NewConversation(
        source=NAME,
        source_id=text(value.get("conversation_id")) or text(value.get("id")),
        title="" if title in UNTITLED else title,
        created_at=begun,
        last_activity_at=max(message.created_at for message in grew.messages) if last is None else last,
        messages=grew.messages,
        turns=grew.turns,
        head=grew.head,
        system_prompt="\n\n".join(reader.instructions),
        pinned=bool(value.get("is_starred") or value.get("pinned_time")),
        archived=bool(value.get("is_archived")),
        notes=reader.notes,
    )


class _Reader:
    """The nodes of one conversation; what is met on the way is kept."""

    def __init__(self, places: dict[str, Any], container: Container, now: datetime) -> None:
        self._places, self._container, self._now = places, container, now
        self._missing = 0
        self._room = LIMITS.conversation_bytes
        """Bytes of pictures: one may be named again and again."""
        self.instructions: list[str] = []

    @property
    def notes(self) -> tuple[str, ...]:
        return (f"{self._missing:,} pictures or recordings are not in the file, or too many.",) if self._missing else ()

    def nodes(self, key: str, one: dict[str, Any]) -> Iterator[Node]:
        parent = text(one.get("parent")) or None
        message = mapping(one.get("message"))
        node = self._node(Node(key, parent), message)
        if node.role != "tool" or not node.blocks:
            yield node
        elif _is_call(before := mapping(mapping(self._places.get(parent or "")).get("message"))):
            yield replace(node, blocks=(_result(parent or "", message, node.blocks, name=text(before["recipient"])),))
        else:  # Its call is not there: one is put before it.
            yield Node(f"{key}#", parent, "assistant", (_call(key, _tool(message), {}),), node.at)
            yield replace(node, parent=f"{key}#", blocks=(_result(key, message, node.blocks, name=_tool(message)),))

    def _node(self, bare: Node, message: dict[str, Any]) -> Node:
        content, facts = mapping(message.get("content")), mapping(message.get("metadata"))
        role = text(mapping(message.get("author")).get("role"))
        kind = text(content.get("content_type"))
        if role == "system" or kind in ("user_editable_context", "model_editable_context"):
            self._instruct(content)
            return bare
        if facts.get("is_visually_hidden_from_conversation") or kind in NOT_SHOWN:
            return bare
        if kind == "thoughts":
            return replace(bare, thoughts=thought(_thoughts(content)))
        if _is_call(message):
            call = _call(bare.key, message["recipient"], text(content.get("text")) or _parts(content))
            return replace(bare, blocks=(call,), at=self._at(message), model=text(facts.get("model_slug")))
        return self._said(bare, message, role)

    def _said(self, bare: Node, message: dict[str, Any], role: str) -> Node:
        facts = mapping(message.get("metadata"))
        ended = text(mapping(facts.get("finish_details")).get("type"))
        blocks = self._blocks(mapping(message.get("content")))
        if role == "tool" and any(block["type"] == "image" for block in blocks):
            role = "assistant"  # A picture that a tool has drawn: results are words.
        return replace(
            bare,
            role="user" if role == "user" else "tool" if role == "tool" else "assistant",
            blocks=blocks,
            at=self._at(message),
            model=text(facts.get("model_slug")),
            was_stopped=ended == "interrupted" or message.get("status") == "in_progress",
            was_cut_off=ended == "max_tokens",
        )

    def _at(self, message: dict[str, Any]) -> datetime | None:
        return moment(message.get("create_time"), now=self._now)

    def _instruct(self, content: dict[str, Any]) -> None:
        found = [text(content.get(name)) for name in INSTRUCTIONS]
        found += [part for part in items(content.get("parts")) if isinstance(part, str)]
        self.instructions += [words.strip() for words in found if words.strip()]

    def _blocks(self, content: dict[str, Any]) -> tuple[Block, ...]:
        kind = text(content.get("content_type"))
        if kind == "code" and text(content.get("text")).strip():
            language = text(content.get("language"))
            return said(f"```{'' if language == 'unknown' else language}\n{content['text']}\n```")
        if "parts" in content:
            return _joined(block for part in items(content["parts"]) for block in self._part(part))
        if kind == "tether_quote":
            return said("\n".join(filter(None, (text(content.get(name)) for name in ("title", "url", "text")))))
        return said(_plain(next(filter(None, (text(content.get(name)) for name in ("text", "result", "summary"))), "")))

    def _part(self, part: Any) -> tuple[Block, ...]:
        if isinstance(part, str):
            return said(_plain(part))
        part = mapping(part)
        if words := text(part.get("text")):
            return said(_plain(words))
        pointer = text(part.get("asset_pointer"))
        if not pointer:
            return ()
        data = self._container.picture(pointer)
        if data and len(data) <= self._room and (kind := picture_kind(data)):
            self._room -= len(data)
            return ({"type": "image", "media_type": kind, "data": base64.b64encode(data).decode()},)
        self._missing += 1
        what = "A recording" if "audio" in text(part.get("content_type")) else "A picture"
        return said(f"*({what} that was not in the file.)*")


def _is_call(message: dict[str, Any]) -> bool:
    """The assistant speaks to a tool."""
    content = mapping(message.get("content"))
    is_to_tool = text(message.get("recipient")) not in EVERYBODY
    is_hidden = mapping(message.get("metadata")).get("is_visually_hidden_from_conversation")
    says = text(content.get("text")) or _parts(content)
    return is_to_tool and not is_hidden and bool(says) and mapping(message.get("author")).get("role") == "assistant"


def _parts(content: dict[str, Any]) -> str:
    return "".join(part for part in items(content.get("parts")) if isinstance(part, str))


def _call(key: str, name: str, given: Any) -> Block:
    return {"type": "tool_use", "id": key, "name": name, "input": given}


def _result(call: str, message: dict[str, Any], blocks: tuple[Block, ...], *, name: str) -> Block:
    is_error = mapping(message.get("content")).get("content_type") == "system_error"
    words = "\n\n".join(block["text"] for block in blocks)
    return {"type": "tool_result", "tool_use_id": call, "name": name, "content": words, "is_error": is_error}


def _joined(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Parts of words become one text, each a paragraph."""
    found: list[Block] = []
    for kind, run in groupby(blocks, key=itemgetter("type")):
        some = list(run)
        found += [{"type": kind, "text": "\n\n".join(block["text"] for block in some)}] if kind == "text" else some
    return tuple(found)


def _plain(words: str) -> str:
    return CITATION.sub("", words)


def _thoughts(content: dict[str, Any]) -> str:
    told = [
        (text(one.get("summary")), text(one.get("content"))) for one in map(mapping, items(content.get("thoughts")))
    ]
    return "\n\n".join("\n".join(filter(None, one)) for one in told)


def _tool(message: dict[str, Any]) -> str:
    return text(mapping(message.get("author")).get("name")) or "tool"
