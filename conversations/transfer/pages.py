"""Many conversations, read a page at a time: small ones together, a large one alone and in batches."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db.models import Count, Sum

from conversations.models import Conversation, Message, Summary, Turn
from conversations.querysets import ConversationQuerySet
from conversations.transfer import rows
from conversations.transfer.content import Content, StoredSize
from conversations.transfer.outline import Outline
from conversations.transfer.rows import MessageRow, SummaryRow, TurnRow

CONVERSATIONS_AT_ONCE = 200
MESSAGES_AT_ONCE = 1000
BYTES_AT_ONCE = 4_000_000
"""As the database stores them."""


@dataclass(frozen=True, slots=True)
class Weight:
    """What reading a conversation takes."""

    id: UUID
    messages: int
    bytes: int

    @property
    def is_light(self) -> bool:
        return self.messages <= MESSAGES_AT_ONCE and self.bytes <= BYTES_AT_ONCE


class Whole(Content):
    """One that is small enough to be in memory."""

    def __init__(
        self,
        conversation: Conversation,
        turns: Sequence[TurnRow],
        messages: Sequence[MessageRow],
        summaries: Sequence[SummaryRow],
    ) -> None:
        super().__init__(conversation)
        self._turns, self._messages_read, self._summaries = turns, messages, summaries

    def turns(self) -> Iterator[TurnRow]:
        return iter(self._turns)

    def messages(self) -> Iterator[MessageRow]:
        return iter(self._messages_read)

    def summaries(self) -> Iterator[SummaryRow]:
        return iter(self._summaries)

    def spoken(self) -> Iterator[tuple[MessageRow, list[TurnRow]]]:
        branch = set(Outline((m.id, m.parent, 0) for m in self._messages_read).branch(self.conversation.head_id))
        for message in self._messages_read:
            if message.id in branch:
                yield message, [turn for turn in self._turns if turn.prompt == message.id]


def weights_of(found: ConversationQuerySet) -> list[Weight]:
    """Of each conversation, in order of time. Sizes are known without reading what they are of."""
    weighed = found.annotate(count=Count("messages"), size=Sum(StoredSize("messages__content")))
    ordered = weighed.order_by("created_at", "pk").values_list("pk", "count", "size")
    return [Weight(pk, count, size or 0) for pk, count, size in ordered.iterator()]


def contents(found: ConversationQuerySet, weights: Iterable[Weight]) -> Iterator[Content]:
    """The conversations in the order of `weights`."""
    for page in _pages(weights):
        read = {conversation.pk: conversation for conversation in found.filter(pk__in=[weight.id for weight in page])}
        if page[0].is_light:
            yield from _whole(read, [weight.id for weight in page])
        else:
            yield Content(read[page[0].id])


def _pages(weights: Iterable[Weight]) -> Iterator[list[Weight]]:
    page: list[Weight] = []
    messages = size = 0
    for weight in weights:
        is_full = len(page) == CONVERSATIONS_AT_ONCE
        if page and (is_full or messages + weight.messages > MESSAGES_AT_ONCE or size + weight.bytes > BYTES_AT_ONCE):
            yield page
            page, messages, size = [], 0, 0
        page.append(weight)
        messages += weight.messages
        size += weight.bytes
    if page:
        yield page


def _whole(read: dict[UUID, Conversation], ids: Sequence[UUID]) -> Iterator[Content]:
    turns = _by_conversation(rows.turns(Turn.objects.filter(conversation__in=ids)))
    messages = _by_conversation(rows.messages(Message.objects.filter(conversation__in=ids)))
    summaries = _by_conversation(rows.summaries(Summary.objects.filter(conversation__in=ids)))
    for pk in ids:
        yield Whole(read[pk], turns.get(pk, []), messages.get(pk, []), summaries.get(pk, []))


def _by_conversation(found: Iterable[Any]) -> dict[UUID, list[Any]]:
    return {pk: list(group) for pk, group in groupby(found, key=lambda row: row.conversation)}
