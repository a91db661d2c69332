"""What was read of a file, as it may be stored: clean, within the limits, and without any say over models.

Nothing is written here, so that a look before the import finds what the import would.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conversations.asking import fallback_title
from conversations.blocks import Block, images_in, text_in, words_in
from conversations.calibration import message_tokens
from conversations.models import Conversation
from conversations.models.conversation import TITLE_CHARACTERS
from conversations.prompts import check_system_prompt
from conversations.providers.registry import default_model_name, offered_models
from conversations.refusals import SystemPromptTooLong
from conversations.text import clean, clean_blocks, line, preview
from conversations.transfer.incoming.limits import LIMITS, Limits, Unfit
from conversations.transfer.incoming.values import NewConversation, NewMessage, digest_of, request_key_of

MODEL_CHARACTERS = 200
COMMON = frozenset({"text", "thinking", "tool_use", "tool_result"})
"""Types of blocks: no words."""


@dataclass(frozen=True, slots=True)
class Prepared:
    conversation: NewConversation
    digest: str

    @property
    def request_key(self) -> str:
        return request_key_of(self.conversation, self.digest)


def prepared(read: NewConversation, *, takes_instructions: bool, limits: Limits = LIMITS) -> Prepared:
    """`takes_instructions`: its owner wants its system prompt to instruct models here.

    Raises:
        Unfit: a message is too long.
    """
    model = read.model if read.model in offered_models() else ""
    notes = list(read.notes)
    if read.model and not model:
        notes.append(f"Its model, {read.model[:MODEL_CHARACTERS]}, is not offered here; any that is can go on with it.")
    prompt = clean(read.system_prompt).strip()
    if prompt and (why := _why_not(prompt, model, takes_instructions=takes_instructions)):
        notes.append(why)
        prompt = ""
    messages = tuple(_prepared(message, model or default_model_name(), limits) for message in read.messages)
    found = replace(read, **_title(read, messages), model=model, system_prompt=prompt, messages=messages)
    digest = digest_of((one.number, one.parent, one.role, one.content) for one in messages)
    return Prepared(replace(found, notes=tuple(map(line, notes))), digest)


def _why_not(prompt: str, model: str, *, takes_instructions: bool) -> str:
    """Why a system prompt is left out; empty: it is taken over."""
    if not takes_instructions:
        return "Its instructions to the model were left out."
    try:
        check_system_prompt(prompt, model=model)
    except SystemPromptTooLong as refusal:
        return f"Its instructions were left out: {refusal}"
    return ""


def _title(read: NewConversation, messages: Sequence[NewMessage]) -> Mapping[str, Any]:
    title = preview(line(read.title), TITLE_CHARACTERS) if len(read.title) > TITLE_CHARACTERS else line(read.title)
    if title:
        source = read.title_source
        return {"title": title, "title_source": Conversation.TitleSource.MODEL if source == "none" else source}
    if read.title_source == Conversation.TitleSource.NONE:
        return {"title": ""}
    first = next((words for one in messages if one.role == "user" and (words := text_in(list(one.content)))), "")
    return fallback_title(first) if first else {"title": "", "title_source": Conversation.TitleSource.NONE}


def _prepared(message: NewMessage, model: str, limits: Limits) -> NewMessage:
    # Before anything is copied: a text may be as large as all the memory there is for it.
    if (size := _characters(message)) > limits.message_characters:
        raise Unfit(f"A message of it has {size:,} characters; {limits.message_characters:,} are the most.")
    content: list[Block] = clean_blocks(list(message.content))
    words = words_in(content)
    if len(words) > limits.message_characters:
        raise Unfit(f"A message of it has {len(words):,} characters; {limits.message_characters:,} are the most.")
    if any(len(picture.data) * 3 // 4 > limits.picture_bytes for picture in images_in(content)):
        raise Unfit(f"A picture in it is larger than {limits.picture_bytes:,} bytes, which is the most.")
    tokens = message_tokens(words, model) if message.tokens is None else message.tokens
    return replace(message, content=tuple(content), tokens=tokens)


def _characters(message: NewMessage) -> int:
    """Of all texts at the top of its blocks, pictures aside."""
    texts = (value for block in message.content if block.get("type") != "image" for value in block.values())
    return sum(len(value) for value in texts if isinstance(value, str) and value not in COMMON)
