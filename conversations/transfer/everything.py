"""All that a person has here, file by file, into an archive."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from django.template.loader import render_to_string

from accounts.models import User
from accounts.profile import profile_of
from conversations.models import Erasure, RetentionRule
from conversations.querysets import ConversationQuerySet
from conversations.transfer import as_json, as_markdown
from conversations.transfer.archive import Archive
from conversations.transfer.content import Content
from conversations.transfer.names import safe_name
from conversations.transfer.pages import Weight, contents
from conversations.transfer.schema import CONVERSATION_SCHEMA
from conversations.transfer.spoken import moment

CHOICES = ("idle_days", "age_days", "temporary_hours", "bin_days")
"""What a person may choose of how long their conversations live."""

LARGE = 10_000_000
"""Bytes as stored, compressed up to 90 times, from which on a file is written so that it may exceed 2 GB."""


def write(
    archive: Archive,
    user: User,
    found: ConversationQuerySet,
    weights: list[Weight],
    *,
    now: datetime,
    wrote: Callable[[int], None],
) -> None:
    """`weights` are those of what was `found`, in order; `wrote` is told how many messages were written, often.

    Inside of `access.as_of_one_moment`.
    """
    archive.add("README.txt", [render_to_string("conversations/export/readme.txt", {"moment": moment(now)})], at=now)
    archive.add("account.json", [as_json.dumped(_account_of(user)), "\n"], at=now)
    archive.add("receipts.json", [as_json.dumped(_receipts_of(user)), "\n"], at=now)
    archive.add("conversation.schema.json", [CONVERSATION_SCHEMA.read_text()], at=now)
    for number, (weight, content) in enumerate(zip(weights, contents(found, weights), strict=True), start=1):
        _write_conversation(archive, content, number=number, weight=weight, now=now, wrote=wrote)


def _account_of(user: User) -> dict[str, Any]:
    """With it the life that this person has chosen for their conversations; None: they have chosen none."""
    own = RetentionRule.objects.filter(scope=RetentionRule.Scope.OWN, user=user)
    return {**profile_of(user), "retention": own.values(*CHOICES).first()}


def _receipts_of(user: User) -> list[Any]:
    """Of what this person had erased of their own, the oldest first. What somebody erased as an administrator was
    others'."""
    own = Erasure.objects.filter(by=user.pk).exclude(reason=Erasure.Reason.ADMINISTRATOR)
    erased = own.order_by("pk")
    return list(erased.values("reason", "conversations", "turns", "began_at", "erased_at", "verified_at", "counts"))


def _write_conversation(
    archive: Archive, content: Content, *, number: int, weight: Weight, now: datetime, wrote: Callable[[int], None]
) -> None:
    conversation = content.conversation
    name = f"conversations/{number:05d} {safe_name(conversation.title, otherwise='Conversation')}"
    facts = {"conversation": conversation.pk}
    is_large = weight.bytes > LARGE
    counted: Counter[str] = Counter()
    rows = as_json.written(content, now=now, counted=counted)
    as_it_goes = _told(rows, counted, wrote)
    archive.add(f"{name}.json", as_it_goes, at=conversation.last_activity_at, is_large=is_large, **facts)
    words = as_markdown.written(content, now=now)
    archive.add(
        f"{name}.md", _told(words, Counter(), wrote), at=conversation.last_activity_at, is_large=is_large, **facts
    )
    archive.counts.update(counted, conversations=1)


def _told(pieces: Iterator[str], counted: Counter[str], wrote: Callable[[int], None]) -> Iterator[str]:
    """The same pieces; how many messages have been written is told on the way, which is where a lost worker stops."""
    told = 0
    for piece in pieces:
        yield piece
        wrote(counted["messages"] - told)
        told = counted["messages"]
