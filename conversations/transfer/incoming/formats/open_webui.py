"""Conversations as Open WebUI gives them out: a list of chats, each with `chat.history`.

`history.messages` has the messages by id, each with `parentId`; `currentId` is the newest of the branch shown last.
Reasoning and calls of tools are written into the text as `<details>`, pictures lie beside it as data URLs.
"""

import html
import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from conversations.blocks import Block
from conversations.transfer.incoming.containers import Container
from conversations.transfer.incoming.limits import LIMITS, Unfit
from conversations.transfer.incoming.reading import items, mapping, moment, said, text, thought
from conversations.transfer.incoming.trees import Node, grown
from conversations.transfer.incoming.values import NewConversation

NAME = "open-webui"
LABEL = "Open WebUI"

BEGINS, ENDS = "<details", "</details>"
ATTRIBUTE = re.compile(r'(?<![\w-])([\w-]++)="([^"]*+)"')
SUMMARY = re.compile(r"\s*+<summary>[^<]*+</summary>")
PICTURE = re.compile(r"data:(image/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/=]+)\Z")
UNTITLED = {"", "New Chat", "New chat"}


def is_one(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    chat = mapping(value.get("chat")) or value
    return isinstance(mapping(chat.get("history")).get("messages"), dict) or (
        "chat" in value and isinstance(chat.get("messages"), list)
    )


def read(value: dict[str, Any], container: Container, *, now: datetime) -> NewConversation:  # noqa: ARG001  # no archive
    """Raises `Unfit`."""
    chat = mapping(value.get("chat")) or value
    history = mapping(chat.get("history"))
    begun = moment(value.get("created_at") or chat.get("timestamp"), now=now) or now
    reader = _Reader(now)
    nodes = [node for key, parent, one in _places(chat, history) for node in reader.nodes(key, parent, one)]
    grew = grown(nodes, head=reader.ends.get(text(history.get("currentId"))), begun=begun)
    if not grew.messages:
        raise Unfit("There is nothing in it that was said.")
    title = text(value.get("title")) or text(chat.get("title"))
    newest = max(message.created_at for message in grew.messages)
    return NewConversation(
        source=NAME,
        source_id=text(value.get("id")) or text(chat.get("id")),
        title="" if title in UNTITLED else title,
        created_at=begun,
        last_activity_at=moment(value.get("updated_at"), now=now) or newest,
        messages=grew.messages,
        turns=grew.turns,
        head=grew.head,
        system_prompt="\n\n".join(
            filter(None, [text(mapping(chat.get("params")).get("system")), *reader.instructions])
        ),
        pinned=bool(value.get("pinned")),
        archived=bool(value.get("archived")),
        notes=(f"{reader.missing:,} files or pictures are not in the file.",) if reader.missing else (),
    )


def _places(chat: dict[str, Any], history: dict[str, Any]) -> Iterator[tuple[str, str | None, dict[str, Any]]]:
    """Of very old files, the list alone, which is the thread."""
    if tree := mapping(history.get("messages")):
        for key, one in tree.items():
            yield key, text(mapping(one).get("parentId")) or None, mapping(one)
        return
    before = None
    for number, one in enumerate(map(mapping, items(chat.get("messages")))):
        key = text(one.get("id")) or f"#{number}"
        yield key, before, one
        before = key


class _Reader:
    def __init__(self, now: datetime) -> None:
        self._now = now
        self.missing = 0
        self.instructions: list[str] = []
        self.ends: dict[str, str] = {}

    def nodes(self, key: str, parent: str | None, message: dict[str, Any]) -> Iterator[Node]:
        """The message's own node is the last: what hangs off the message hangs off that."""
        role = text(message.get("role"))
        self.ends[key] = key
        at = moment(message.get("timestamp"), now=self._now)
        if role == "system":
            self.instructions.append(text(message.get("content")))
            yield Node(key, parent)
        elif role == "user":
            yield Node(key, parent, "user", (*said(text(message.get("content"))), *self._files(message)), at)
        else:
            yield from self._answer(Node(key, parent, at=at), message)

    def _answer(self, bare: Node, message: dict[str, Any]) -> Iterator[Node]:
        runs = list(_runs(bare.key, text(message.get("content"))))
        pictures = self._files(message)
        model, stopped = text(message.get("model")), message.get("done") is False
        above = bare.parent
        for place, (is_result, blocks) in enumerate(runs):
            name = f"{bare.key}#{place}"
            yield Node(name, above, "tool" if is_result else "assistant", blocks, bare.at, model, was_stopped=stopped)
            above = name
        yield Node(bare.key, above, "assistant", pictures, bare.at, model, was_stopped=stopped)

    def _files(self, message: dict[str, Any]) -> tuple[Block, ...]:
        found: list[Block] = []
        for one in map(mapping, items(message.get("files"))):
            url = text(one.get("url"))
            if (data := PICTURE.match(url)) and len(url) <= LIMITS.picture_bytes * 4 // 3:
                found.append({"type": "image", "media_type": data[1], "data": data[2]})
            elif words := text(mapping(mapping(one.get("file")).get("data")).get("content")):
                name = html.escape(text(one.get("name")) or "text", quote=True)
                found += said(f'\n\n<document name="{name}">\n{words}\n</document>')
            else:
                self.missing += 1
        return tuple(found)


def _runs(key: str, words: str) -> Iterator[tuple[bool, tuple[Block, ...]]]:
    """What was said, thought, and asked of tools, in order; True: what a tool returned."""
    blocks: list[Block] = []
    end = 0
    for start, stop, facts, inside in _details(words):
        blocks += said(words[end:start].strip())
        end = stop
        if facts["type"] == "reasoning":
            blocks += thought(re.sub(r"^> ?", "", html.unescape(inside).strip(), flags=re.MULTILINE))
            continue
        call, name = facts.get("id") or f"{key}:{start}", facts.get("name") or "tool"
        yield False, (*blocks, {"type": "tool_use", "id": call, "name": name, "input": facts.get("arguments", "")})
        blocks = []
        result = {"tool_use_id": call, "name": name, "content": _unquoted(facts.get("result", "")), "is_error": False}
        yield True, ({"type": "tool_result", **result},)
    blocks += said(words[end:].strip() if end else words)
    if blocks:
        yield False, tuple(blocks)


def _details(words: str) -> Iterator[tuple[int, int, dict[str, str], str]]:
    """Where each of the two kinds we know begins and ends, its attributes, and what is inside without its summary."""
    at = words.find(BEGINS)
    while at >= 0 and (head := words.find(">", at)) >= 0 and (foot := words.find(ENDS, head)) >= 0:
        facts = {name: html.unescape(value) for name, value in ATTRIBUTE.findall(words[at:head])}
        if facts.get("type") in ("reasoning", "tool_calls"):
            yield at, foot + len(ENDS), facts, SUMMARY.sub("", words[head + 1 : foot], count=1)
        at = words.find(BEGINS, foot)


def _unquoted(words: str) -> str:
    """Results are written as JSON inside of the attribute."""
    try:
        value = json.loads(words)
    except (ValueError, RecursionError):
        return words
    return value if isinstance(value, str) else words
