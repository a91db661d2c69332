"""What a provider reported of a turn's requests, kept with the end of the turn."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from conversations.calibration import Estimates, learn
from conversations.context.measured import Before, Measured, is_truncated, question_size
from conversations.context.record import Record
from conversations.models import Message, Turn


def keep(turn: Turn, requests: Sequence[Measured]) -> dict[str, Any]:
    """Give the question the tokens that were measured, if they were; returns the fields of the turn to be written.

    `requests` are those of the turn, in order. Whoever calls holds the conversation.
    """
    if not requests:
        return {}
    told, size = _measured(turn, requests)
    if size is not None:
        _count_question(turn, size)
    return {"context": told[-1].record.as_json()}


def teach(turn: Turn, requests: Sequence[Measured], estimates: Estimates) -> None:
    """Have later estimates profit from the first request of a turn that has ended; `estimates` are of its parts."""
    if requests:
        told, size = _measured(turn, requests)
        learn(turn.model, told[0], estimates, question=size)


def _measured(turn: Turn, requests: Sequence[Measured]) -> tuple[list[Measured], int | None]:
    """The requests with what was reported in their records, and the tokens of the question, where they are known."""
    before = before_question(turn)
    told = _told(requests, before.record if before else None)
    return told, question_size(told[0], before, estimate=turn.prompt.tokens)


def before_question(turn: Turn) -> Before | None:
    """The request that brought the message the question of `turn` answers; None when there is none, or it was made to
    another model."""
    answer = turn.prompt.parent_id
    if answer is None:
        return None
    columns = ("tokens", "tokens_source", "turn__context")
    found = Message.objects.filter(pk=answer, turn__model=turn.model, role=Message.Role.ASSISTANT).values_list(*columns)
    tokens, source, context = found.first() or (0, "", None)
    record = Record.from_json(context)
    if record is None:
        return None
    return Before(record, answer, tokens if source == Message.TokensSource.USAGE else None)


def _told(requests: Sequence[Measured], before: Record | None) -> list[Measured]:
    """Each request continues the one before, or does not."""
    told: list[Measured] = []
    for asked in requests:
        record = replace(asked.record, reported=asked.reported, truncated=is_truncated(asked, before))
        told.append(replace(asked, record=record))
        before = record
    return told


def _count_question(turn: Turn, tokens: int) -> None:
    """Once: what was measured stays, whatever another attempt measures."""
    estimated = Message.objects.filter(pk=turn.prompt_id, tokens_source=Message.TokensSource.ESTIMATE)
    estimated.update(tokens=tokens, tokens_source=Message.TokensSource.USAGE)
