"""Small files as other products give them out, with the oddities that were seen in real ones."""

import io
import json
import zipfile
from base64 import b64decode
from typing import Any

from tests.conversations.transfer.rich import PIXEL

PNG = b64decode(PIXEL)
BEGINNING = "00000000-0000-4000-8000-000000000000"


def zipped(**entries: bytes | str) -> bytes:
    """`__` in a name stands for a slash, `_DOT_` for a dot, `_DASH_` for a dash."""
    sent = io.BytesIO()
    with zipfile.ZipFile(sent, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("__", "/").replace("_DOT_", ".").replace("_DASH_", "-"), content)
    return sent.getvalue()


def archive(entries: dict[str, bytes | str]) -> bytes:
    sent = io.BytesIO()
    with zipfile.ZipFile(sent, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in entries.items():
            made.writestr(name, content)
    return sent.getvalue()


def node(key: str, parent: str | None, role: str = "", content: Any = None, **message: Any) -> dict[str, Any]:
    """Of ChatGPT's mapping; without a role it has no message."""
    if not role:
        return {"id": key, "message": None, "parent": parent, "children": []}
    said = content if isinstance(content, dict) else {"content_type": "text", "parts": [content]}
    author = {"role": role, "name": message.pop("name", None), "metadata": {}}
    told = {"id": key, "author": author, "content": said, "status": "finished_successfully", "recipient": "all"}
    return {"id": key, "message": {**told, **message}, "parent": parent, "children": []}


def chatgpt(*nodes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    told = {
        "title": "Bread",
        "create_time": 1_700_000_000.25,
        "update_time": 1_700_000_900.5,
        "mapping": {one["id"]: one for one in nodes},
        "current_node": nodes[-1]["id"],
        "conversation_id": "conversation-1",
        "is_archived": False,
    }
    return told | fields


def talk() -> dict[str, Any]:
    """ChatGPT's: a hidden beginning, instructions, thoughts, two answers to one question, a tool, a picture."""
    hidden = {"is_visually_hidden_from_conversation": True}
    return chatgpt(
        node("root", None),
        node("system", "root", "system", "", metadata=hidden),
        node(
            "about",
            "system",
            "user",
            {"content_type": "user_editable_context", "user_profile": "I bake.", "user_instructions": "Be brief."},
            metadata=hidden,
        ),
        node("q1", "about", "user", "What is bread?", create_time=1_700_000_001),
        node("t1", "q1", "assistant", {"content_type": "thoughts", "thoughts": [{"summary": "Flour", "content": "?"}]}),
        node("r1", "t1", "assistant", {"content_type": "reasoning_recap", "content": "Thought for 2 s"}),
        node(
            "a1",
            "r1",
            "assistant",
            "Dough\ue200cite\ue202turn0\ue201, baked.",
            create_time=1_700_000_002,
            metadata={"model_slug": "gpt-4o"},
        ),
        node("a2", "q1", "assistant", "A staple food.", create_time=1_700_000_003, metadata={"model_slug": "gpt-5"}),
        node(
            "q2",
            "a1",
            "user",
            {
                "content_type": "multimodal_text",
                "parts": [
                    {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-Ab1"},
                    "And this?",
                ],
            },
            create_time=1_700_000_004,
        ),
        node(
            "call",
            "q2",
            "assistant",
            {"content_type": "code", "language": "python", "text": "1 + 1"},
            recipient="python",
        ),
        node("result", "call", "tool", {"content_type": "execution_output", "text": "2"}, name="python"),
        node("a3", "result", "assistant", "Two.", create_time=1_700_000_006),
    )


def claude(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    told = {
        "uuid": "claude-1",
        "name": "Bees",
        "created_at": "2024-05-01T10:00:00.123456Z",
        "updated_at": "2024-05-01T11:00:00.000000Z",
        "account": {"uuid": "somebody"},
        "chat_messages": list(messages),
    }
    return told | fields


def spoken(key: str, parent: str | None, sender: str, words: str, **fields: Any) -> dict[str, Any]:
    """Of Claude's list; `parent` None: an older file, which does not say."""
    content = fields.pop("content", [{"type": "text", "text": words}])
    told = {"uuid": key, "sender": sender, "text": words, "content": content, "attachments": [], "files": []}
    if parent is not None:
        told["parent_message_uuid"] = parent
    return {**told, "created_at": "2024-05-01T10:00:01Z", **fields}


def open_webui(messages: list[dict[str, Any]], current: str, **fields: Any) -> dict[str, Any]:
    by_id = {one["id"]: one for one in messages}
    chat = {
        "title": "Tea",
        "params": {"system": "Answer in rhyme."},
        "history": {"messages": by_id, "currentId": current},
    }
    told = {"id": "webui-1", "user_id": "u", "title": "Tea", "chat": chat, "archived": False, "pinned": True}
    return {**told, "created_at": 1_700_000_000, "updated_at": 1_700_000_500, **fields}


def sent(*conversations: dict[str, Any]) -> bytes:
    return json.dumps(list(conversations)).encode()
