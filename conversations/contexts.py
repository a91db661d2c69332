"""The context of a question: what its model will be sent, or would be.

One way to it for the worker that asks, the page that tells before, and the API.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from conversations import history
from conversations.context.assemble import assemble
from conversations.context.pairs import MAX_CHARS, MAX_COMPLETED_PAIRS
from conversations.context.record import Record
from conversations.context.values import Assembly, StoredMessage, SystemPrompt, Toolbox, WindowPolicy
from conversations.context.windows import pairs, stepped
from conversations.models import Conversation, Turn
from conversations.prompts import budget_for, system_prompt_of
from conversations.providers.registry import chat_model_info
from conversations.text import estimate_tokens


@dataclass(frozen=True, slots=True)
class Question:
    """A question in its place: behind `parent_id` on a branch of the conversation, for one model."""

    conversation: Conversation | None
    parent_id: int | None
    prompt: StoredMessage
    model: str
    begun: Record | None = None
    """Of the last request its turn has made already, before the model called tools."""


def question_of(turn: Turn) -> Question:
    begun = Record.from_json(turn.context)
    return Question(turn.conversation, turn.prompt.parent_id, history.stored(turn.prompt), turn.model, begun)


def context_of(
    question: Question,
    *,
    tools: Toolbox,
    rounds: Sequence[StoredMessage] = (),
    must_answer: bool = False,
    is_tightened: bool = False,
) -> Assembly:
    """What the model is sent; `is_tightened`: less than it should be able to take, since it said it is not.

    Raises:
        PromptTooLong: the question does not fit.
    """
    budget = budget_for(question.model)
    budget = budget.tightened() if is_tightened else budget
    before = None if _sends_pairs() else _record_before(question)
    system_prompt = system_prompt_of(question.conversation)
    assembly = assemble(
        history.past_of(
            question.parent_id,
            tokens=budget.history,
            start=before.start if before else None,
            counts_incomplete=not _sends_pairs(),
        ),
        question.prompt,
        system=SystemPrompt(system_prompt, estimate_tokens(system_prompt)),
        budget=budget,
        policy=_policy(question, before),
        takes_images=chat_model_info(question.model).takes_images,
        tools=tools,
        rounds=rounds,
        must_answer=must_answer,
    )
    was_cut = assembly.record.was_cut or bool(question.begun and question.begun.was_cut)
    return replace(assembly, record=replace(assembly.record, was_cut=was_cut, was_tightened=is_tightened))


def _sends_pairs() -> bool:
    return bool(settings.POCKETCHAT_CONTEXT_POLICY == "pairs")


def _record_before(question: Question) -> Record | None:
    """Of the request before, which tells where the window begins: of the same turn, if it has made one already.

    A window that began where it did because only so many pairs are sent says nothing about tokens.
    """
    before = question.begun or history.record_before(question.parent_id, model=question.model)
    return None if before and before.reason == "pair_limit" else before


def _policy(question: Question, before: Record | None) -> WindowPolicy:
    if _sends_pairs():
        return pairs(question.prompt.text, max_chars=MAX_CHARS, max_completed_pairs=MAX_COMPLETED_PAIRS)
    return stepped(before.start, reason=before.reason) if before else stepped()


def record_context(turn: Turn, context: dict[str, Any]) -> None:
    """Keep what the model is about to be sent, by reference."""
    turn.context = context
    Turn.objects.live().filter(pk=turn.pk).update(context=context)
