"""A record in words: what a request holds, part by part, what it does not, and why.

The record has ids and sizes only. Words are taken from the stored messages at the time of looking, so what was deleted
since is missing, and said to be.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.urls import reverse

from conversations.context.record import REASONS, Record
from conversations.contexts import fingerprint_of
from conversations.models import Conversation, Message, Turn
from conversations.outlook import Outlook
from conversations.prompts import system_prompt_of
from conversations.providers.registry import chat_model_info
from conversations.text import preview
from conversations.tools.search import SearchConversation
from conversations.views.meters import Meter, is_cut, meter_of

WORDS = 90
"""Characters shown of a turn."""
QUESTION_WORDS = 280
MOST_OPEN = 8
"""Turns of a list that is not folded."""


@dataclass(frozen=True)
class Row:
    """A turn of the conversation in a list; `href` shows it in its place."""

    words: str
    tokens: int
    href: str
    score: float | None = None


@dataclass(frozen=True)
class Missing:
    """Turns that are not sent, and why."""

    sentence: str
    rows: tuple[Row, ...]
    and_before: bool


@dataclass(frozen=True)
class Panel:
    """What the templates show of a record; `turn` is None for a question that is not sent yet."""

    record: Record
    meter: Meter
    model_label: str
    turn: Turn | None
    instructions: str
    instructions_changed: bool
    question: str
    earlier: tuple[Row, ...]
    recalled: tuple[Row, ...]
    summarised: tuple[Row, ...]
    """The turn that the summary goes up to."""
    missing: tuple[Missing, ...]
    deleted: int
    reported: int | None
    warning: str
    """What the person who asked should know of the request."""

    @property
    def tokens(self) -> Mapping[str, int]:
        return {section.name: section.tokens for section in self.record.sections}

    @property
    def is_cut(self) -> bool:
        return is_cut(self.record)

    @property
    def can_search(self) -> bool:
        """The model may look for what it is not sent."""
        return SearchConversation.spec.name in self.record.tools

    @property
    def is_folded(self) -> bool:
        return len(self.earlier) > MOST_OPEN

    @property
    def is_live(self) -> bool:
        return self.turn is not None and self.turn.is_live


def panel_of(conversation: Conversation | None, outlook: Outlook) -> Panel:
    """One query."""
    record, turn = outlook.record, outlook.turn
    rows = _Rows(conversation, _ids_of(record))
    earlier = [pk for pk in record.sent if pk != record.sent[-1]]
    recalled = {pk for one in record.recalled for pk in one.ids}
    instructions = system_prompt_of(conversation)
    return Panel(
        record=record,
        meter=meter_of(outlook),
        model_label=chat_model_info(outlook.model).label,
        turn=turn,
        instructions=instructions,
        instructions_changed=bool(record.instructions) and record.instructions != fingerprint_of(instructions),
        question=preview(outlook.prompt, QUESTION_WORDS),
        earlier=rows.of(earlier),
        recalled=tuple(row for one in record.recalled for row in rows.of(one.ids, score=one.score)),
        summarised=rows.of([record.summarised_through] if record.summarised_through else []),
        missing=tuple(
            Missing(REASONS.get(span.reason, ""), rows.of(pk for pk in span.ids if pk not in recalled), span.and_before)
            for span in record.left_out
        ),
        deleted=rows.deleted,
        reported=_reported(record, turn),
        warning=record.warning,
    )


def _ids_of(record: Record) -> set[int]:
    spans = [
        record.sent,
        (record.summarised_through or 0,),
        *(span.ids for span in record.left_out),
        *(one.ids for one in record.recalled),
    ]
    # What is not stored yet has no positive id.
    return {pk for span in spans for pk in span if pk > 0}


def _reported(record: Record, turn: Turn | None) -> int | None:
    """Tokens the provider counted; a turn's own figure is that of all its requests together."""
    if record.reported is not None or turn is None:
        return record.reported
    return turn.input_tokens if not record.tokens_of("rounds") else None


class _Rows:
    """The messages of a record, and the questions they belong to."""

    def __init__(self, conversation: Conversation | None, ids: set[int]) -> None:
        self._page = reverse("conversations:conversation", args=[conversation.pk]) if conversation else ""
        wanted = Q(pk__in=ids) | Q(pk__in=Turn.objects.filter(messages__in=ids).values("prompt"))
        found = Message.objects.filter(wanted, conversation=conversation) if conversation and ids else []
        self._messages: dict[int, Any] = {message.pk: message for message in found}
        self.deleted = len(ids - self._messages.keys())

    def of(self, ids: Iterable[int], *, score: float | None = None) -> tuple[Row, ...]:
        """A row for each turn among the messages, in their order."""
        turns: dict[int, list[Message]] = {}
        question = 0
        for message in (self._messages[pk] for pk in ids if pk in self._messages):
            # What comes before the first question of the list belongs to one that is not in it.
            question = message.pk if message.role == Message.Role.USER else question or self._question_of(message)
            turns.setdefault(question, []).append(message)
        return tuple(self._row(pk, messages, score) for pk, messages in turns.items())

    def _question_of(self, message: Message) -> int:
        """The newest question before it that was read along."""
        before = (m.pk for m in self._messages.values() if m.role == Message.Role.USER and m.pk < message.pk)
        return max(before, default=message.pk)

    def _row(self, question: int, messages: Sequence[Message], score: float | None) -> Row:
        first = self._messages.get(question, messages[0])
        return Row(
            words=preview(first.text, WORDS),
            tokens=sum(message.tokens for message in messages),
            href=f"{self._page}?through={messages[-1].pk}#message-{question}",
            score=score,
        )
