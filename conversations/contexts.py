"""The context of a question: what its model will be sent, or would be.

One way to it for the worker that asks, the page that tells before, and the API.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from conversations import history
from conversations.budgets import budget_for
from conversations.context.assemble import assemble
from conversations.context.pairs import MAX_CHARS, MAX_COMPLETED_PAIRS
from conversations.context.values import Assembly, StoredMessage, SystemPrompt, Toolbox, WindowPolicy
from conversations.context.windows import pairs, stepped
from conversations.models import Conversation, Turn
from conversations.prompts import PAIRS, system_prompt_of
from conversations.providers.registry import chat_model_info
from conversations.text import estimate_tokens


@dataclass(frozen=True, slots=True)
class Question:
    """A question in its place: behind `parent_id` on a branch of the conversation, for one model."""

    conversation: Conversation | None
    parent_id: int | None
    prompt: StoredMessage
    model: str


def question_of(turn: Turn) -> Question:
    return Question(turn.conversation, turn.prompt.parent_id, history.stored(turn.prompt), turn.model)


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
    start, policy = _policy(question)
    system_prompt = system_prompt_of(question.conversation)
    assembly = assemble(
        history.past_of(question.parent_id, tokens=budget.history, start=start),
        question.prompt,
        system=SystemPrompt(system_prompt, estimate_tokens(system_prompt)),
        budget=budget,
        policy=policy,
        takes_images=chat_model_info(question.model).takes_images,
        tools=tools,
        rounds=rounds,
        must_answer=must_answer,
    )
    return replace(assembly, record=replace(assembly.record, was_tightened=is_tightened))


def _policy(question: Question) -> tuple[int | None, WindowPolicy]:
    """Where the window begins, if that is known before, and what chooses it."""
    if settings.POCKETCHAT_CONTEXT_POLICY == PAIRS:
        return None, pairs(question.prompt.text, max_chars=MAX_CHARS, max_completed_pairs=MAX_COMPLETED_PAIRS)
    start = history.window_start(question.parent_id, model=question.model)
    return start, stepped(start)


def record_context(turn: Turn, context: dict[str, Any]) -> None:
    """Keep what the model is about to be sent, by reference."""
    Turn.objects.live().filter(pk=turn.pk).update(context=context)
