"""A record in words: what a request holds, part by part, what it does not, and why.

The record has ids and sizes only. Words are taken from the stored messages at the time of looking, so what was deleted
since is missing, and said to be.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from conversations.context.record import REASONS, Record
from conversations.contexts import fingerprint_of
from conversations.models import Conversation, Turn
from conversations.outlook import Outlook
from conversations.prompts import system_prompt_of
from conversations.providers.registry import chat_model_info
from conversations.text import preview
from conversations.tools.search import SearchConversation
from conversations.views.meters import Meter, is_cut, meter_of
from conversations.views.rows import Row, Rows
from conversations.views.summary_parts import SummaryPart, part_of

QUESTION_WORDS = 280
MOST_OPEN = 8
"""Turns of a list that is not folded."""


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
    summary: SummaryPart | None
    """None: of a conversation that is about to begin, and of a request that was sent without one."""
    summarised: tuple[Row, ...]
    """The turn that the summary of the request goes up to."""
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
    """One query; as many more as `part_of` says."""
    record, turn = outlook.record, outlook.turn
    summary = part_of(conversation, outlook) if conversation else None
    rows = Rows(conversation, _ids_of(record) | (summary.throughs if summary else set()))
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
        recalled=_recalled(record, rows),
        summary=summary.placed(rows) if summary else None,
        summarised=rows.of([record.summarised_through] if record.summarised_through else []),
        missing=tuple(
            Missing(REASONS.get(span.reason, ""), rows.of(pk for pk in span.ids if pk not in recalled), span.and_before)
            for span in record.left_out
        ),
        deleted=rows.deleted,
        reported=_reported(record, turn),
        warning=record.warning,
    )


def _recalled(record: Record, rows: Rows) -> tuple[Row, ...]:
    """In the order of the conversation, each with its place among them by how well it matches."""
    best_first = sorted(record.recalled, key=lambda one: one.score, reverse=True)
    places = {one.ids: place for place, one in enumerate(best_first, start=1)}
    return tuple(row for one in record.recalled for row in rows.of(one.ids, match=places[one.ids]))


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
