"""A conversation that is brought in, whoever wrote it: values that no other format's words are left in."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any, Literal

from conversations.blocks import Block
from conversations.models.conversation import IMPORTED

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class NewMessage:
    """`number` and everything that names one has a meaning in this conversation alone; they grow along a branch."""

    number: int
    parent: int | None
    turn: int
    role: Role
    content: tuple[Block, ...]
    created_at: datetime
    tokens: int | None = None
    """None: to be estimated."""
    tokens_source: str = "estimate"
    resume_at: int | None = None


@dataclass(frozen=True, slots=True)
class NewTurn:
    """One attempt to answer `prompt`; `facts` are columns of the turn that need no translation."""

    number: int
    prompt: int
    created_at: datetime
    model: str = ""
    status: str = "complete"
    facts: dict[str, Any] = field(default_factory=dict)
    context: dict[str, Any] | None = None
    """By the numbers of this conversation."""


@dataclass(frozen=True, slots=True)
class NewSummary:
    number: int
    through: int
    text: str
    source: str
    model: str
    follows: int | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class NewConversation:
    """In order of numbers: a parent stands before its children, a summary behind the one it follows."""

    source: str
    """The format it came in, see `formats`."""
    source_id: str
    title: str
    created_at: datetime
    last_activity_at: datetime
    messages: Sequence[NewMessage]
    turns: Sequence[NewTurn]
    head: int | None
    summaries: Sequence[NewSummary] = ()
    title_source: str = "model"
    model: str = ""
    system_prompt: str = ""
    """Data, like everything here: it instructs a model only if its owner says so."""
    pinned: bool = False
    archived: bool = False
    temporary: bool = False
    kept: bool = False
    """It has an effect where people may keep conversations."""
    summarises: bool = True
    notes: tuple[str, ...] = ()
    """What could not be brought in as it was, in sentences for its owner."""


Said = tuple[int, int | None, str, Any]
"""Of a message: number, parent, role, content."""


def digest_of(messages: Iterable[Said]) -> str:
    """Of what was said and how it hangs together, whatever the numbers: the same state of a conversation has the same.

    Titles, pins and the branch its owner is on may change meanwhile.
    """
    made, places = blake2b(digest_size=16), dict[int, int]()
    for number, parent, role, content in messages:
        places[number] = len(places)
        above = None if parent is None else places[parent]
        made.update(json.dumps([above, role, content], sort_keys=True, default=str).encode())
    return made.hexdigest()


def request_key_of(conversation: NewConversation, digest: str) -> str:
    """Names what was brought in: the same of the same owner is there once, which the database keeps."""
    return f"{known_as(conversation.source, conversation.source_id)}{digest}"


def known_as(source: str, source_id: str) -> str:
    """What the keys of all states of one conversation begin with."""
    name = blake2b(source_id.encode("utf-8", "replace"), digest_size=8).hexdigest() if source_id else "-"
    return f"{IMPORTED}{source}:{name}:"
