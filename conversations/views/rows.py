"""Turns of a conversation in a list: their first words, their size, and where they stand."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.urls import reverse

from conversations.models import Conversation, Message, Turn
from conversations.text import preview

WORDS = 90
"""Characters shown of a turn."""


@dataclass(frozen=True)
class Row:
    """A turn of the conversation in a list; `href` shows it in its place."""

    words: str
    tokens: int
    href: str
    match: int = 0
    """Among the turns that were brought back: 1 has most to do with the question; 0: it is none of them."""


class Rows:
    """Messages by their ids, and the questions they belong to. One query; none without ids."""

    def __init__(self, conversation: Conversation | None, ids: set[int]) -> None:
        self._page = reverse("conversations:conversation", args=[conversation.pk]) if conversation else ""
        wanted = Q(pk__in=ids) | Q(pk__in=Turn.objects.filter(messages__in=ids).values("prompt"))
        found = Message.objects.filter(wanted, conversation=conversation) if conversation and ids else []
        self._messages: dict[int, Any] = {message.pk: message for message in found}
        self.deleted = len(ids - self._messages.keys())

    def of(self, ids: Iterable[int], *, match: int = 0) -> tuple[Row, ...]:
        """A row for each turn among the messages, in their order."""
        turns: dict[int, list[Message]] = {}
        question = 0
        for message in (self._messages[pk] for pk in ids if pk in self._messages):
            # What comes before the first question of the list belongs to one that is not in it.
            question = message.pk if message.role == Message.Role.USER else question or self._question_of(message)
            turns.setdefault(question, []).append(message)
        return tuple(self._row(pk, messages, match) for pk, messages in turns.items())

    def _question_of(self, message: Message) -> int:
        """The newest question before it that was read along."""
        before = (m.pk for m in self._messages.values() if m.role == Message.Role.USER and m.pk < message.pk)
        return max(before, default=message.pk)

    def _row(self, question: int, messages: Sequence[Message], match: int) -> Row:
        first = self._messages.get(question, messages[0])
        return Row(
            words=preview(first.text, WORDS),
            tokens=sum(message.tokens for message in messages),
            href=f"{self._page}?through={messages[-1].pk}#message-{question}",
            match=match,
        )
