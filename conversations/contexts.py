"""The context of a question: what its model will be sent, or would be.

One way to it for the worker that asks, the page that tells before, and the API.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Any

from django.conf import settings

from conversations import calibration, history, recollections
from conversations.budgets import budget_for
from conversations.context.assemble import assemble
from conversations.context.pairs import MAX_CHARS, MAX_COMPLETED_PAIRS
from conversations.context.record import Record
from conversations.context.values import (
    Assembly,
    Budget,
    Past,
    Recollection,
    StoredMessage,
    Summary,
    SystemPrompt,
    Toolbox,
    WindowPolicy,
)
from conversations.context.windows import pairs, stepped
from conversations.models import Conversation, Turn
from conversations.prompts import sends_pairs, system_prompt_of
from conversations.providers.registry import chat_model_info
from conversations.providers.values import ToolSpec
from conversations.stand_ins import has_summaries, stand_ins


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
    refused: Record | None = None,
    completes_index: bool = False,
    only_record: bool = False,
) -> Assembly:
    """What the model is sent; `is_tightened`: less than it should be able to take, since it said it is not, of the
    request `refused`. Where the branch has more than is sent, a summary stands for it, and what matches the question is
    brought back (`completes_index`: see `recollections`). With `only_record` the request lacks the words
    of the summary: they are not read.

    Raises:
        PromptTooLong: the question does not fit.
    """
    before = None if sends_pairs() else _record_before(question)
    prompt = system_prompt_of(question.conversation)
    system = SystemPrompt(prompt, calibration.message_tokens(prompt, question.model))
    budget = budget_for(question.model)
    if is_tightened:
        budget = _tightened(budget, least=system.tokens + question.prompt.tokens + budget.reply, refused=refused)
    past = _past(question, tokens=budget.history, before=before)
    assembled = partial(
        assemble,
        prompt=question.prompt,
        system=system,
        budget=budget,
        policy=_policy(question, before),
        takes_images=chat_model_info(question.model).takes_images,
        tools=calibration.calibrated(tools, question.model),
        rounds=rounds,
        must_answer=must_answer,
    )
    assembly = assembled(past)
    if (
        budget.retrieved
        and assembly.record.leaves_out_earlier
        and (found := _summaries(question, past, with_words=not only_record))
    ):
        past = replace(past, summaries=found)
        assembly = assembled(past)
    if settings.POCKETCHAT_RECALL and budget.retrieved and assembly.record.leaves_out_earlier:
        recalled = _recalled(question, assembly.record, completes_index=completes_index)
        assembly = assembled(replace(past, recollections=recalled)) if recalled else assembly
    return replace(assembly, record=_in_its_turn(assembly, question, prompt, is_tightened=is_tightened))


def _past(question: Question, *, tokens: int, before: Record | None) -> Past:
    start = before.start if before else None
    return history.past_of(question.parent_id, tokens=tokens, start=start, counts_incomplete=not sends_pairs())


def _summaries(question: Question, past: Past, *, with_words: bool) -> tuple[Summary, ...]:
    """One query, where something is left out and the owner wants summaries."""
    if question.conversation is None or not has_summaries(question.conversation):
        return ()
    read = [*past.opening, *(number for turn in past.turns for number in turn.ids)]
    return stand_ins(question.conversation.pk, read=read, before=past.unread, with_words=with_words)


def _recalled(question: Question, without: Record, *, completes_index: bool) -> tuple[Recollection, ...]:
    """What is brought back beside all that is sent anyway; in a later round of a turn, what was in its first."""
    if question.conversation is None:
        return ()
    if question.begun:
        return recollections.recalled_before(question.conversation.pk, question.begun.recalled)
    return recollections.recollections(
        question.conversation.pk,
        question.parent_id,
        question.prompt.text,
        without=without.sent,
        completes_index=completes_index,
    )


def _in_its_turn(assembly: Assembly, question: Question, system_prompt: str, *, is_tightened: bool) -> Record:
    """The record with what the request alone does not tell: what became of those before it, and fingerprints."""
    return replace(
        assembly.record,
        was_cut=assembly.record.was_cut or bool(question.begun and question.begun.was_cut),
        was_tightened=is_tightened,
        instructions=fingerprint_of(system_prompt),
        beginning=_beginning(system_prompt, assembly.request.tools),
    )


def _record_before(question: Question) -> Record | None:
    """Of the request before, which tells where the window begins: of the same turn, if it has made one already.

    A window that began where it did because only so many pairs are sent says nothing about tokens.
    """
    before = question.begun or history.record_before(question.parent_id, model=question.model)
    return None if before and before.reason == "pair_limit" else before


def _policy(question: Question, before: Record | None) -> WindowPolicy:
    if sends_pairs():
        return pairs(question.prompt.text, max_chars=MAX_CHARS, max_completed_pairs=MAX_COMPLETED_PAIRS)
    return stepped(before.start, reason=before.reason) if before else stepped()


def _tightened(budget: Budget, *, least: int, refused: Record | None) -> Budget:
    """Half of what can be cut, measured by what was sent, if that is known: it may have been far below the budget.

    What cannot be cut, `least` tokens with the reply, is tried once more: perhaps the rest was too much.
    """
    smaller = budget.tightened()
    window = max(smaller.window, min(least, budget.window))
    if refused is None:
        return replace(smaller, window=window)
    retrieved = refused.tokens_of("summary") + refused.tokens_of("recalled")
    return replace(
        smaller,
        window=window,
        history=min(smaller.history, refused.tokens_of("window") // 2),
        # The summary is needed the more, the less is sent of what it stands for.
        retrieved=min(budget.retrieved, max(refused.tokens_of("summary"), retrieved // 2)),
    )


def _beginning(system_prompt: str, tools: Sequence[ToolSpec]) -> str:
    told = [(tool.name, tool.description, json.dumps(dict(tool.parameters), default=str)) for tool in tools]
    return fingerprint_of(repr((system_prompt, told)))


def fingerprint_of(text: str) -> str:
    """Tells whether two texts are the same; says nothing about which."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def record_context(turn: Turn, context: dict[str, Any]) -> None:
    """Keep what the model is about to be sent, by reference."""
    turn.context = context
    Turn.objects.live().filter(pk=turn.pk).update(context=context)
