"""What a reply's model will see, and the trace of what its calls took."""

from collections.abc import Mapping

from conversations import reported, turns
from conversations.calibration import Estimates
from conversations.context.values import StoredMessage
from conversations.contexts import context_of, question_of, record_context
from conversations.models import ModelCall, Turn
from conversations.prompts import system_prompt_of
from conversations.providers.errors import ProviderError
from conversations.replies.draft import Draft, Prepared, Round
from conversations.text import estimate_tokens, least_tokens
from conversations.tools.toolbox import toolbox
from conversations.tools.values import Tool
from conversations.tracing import call_of


def prepared(
    turn: Turn, draft: Draft, tools: Mapping[str, Tool], *, must_answer: bool, is_tightened: bool = False
) -> Prepared:
    """Assemble the request of the round that begins, and record by reference what it contains.

    `is_tightened`: the provider found what was asked before too long.

    Raises:
        PromptTooLong: the question does not fit, for instance because the settings have changed since it was asked.
        ProviderError: `context_too_long`, when nothing can be left out of what the provider has refused.
    """
    question, offered = question_of(turn), toolbox(tools)
    refused = next((one.asked for one in draft.rounds if one.refused), None)
    assembly = context_of(
        question,
        tools=offered,
        rounds=[message for number, done in enumerate(draft.done) for message in _as_stored(done, number)],
        must_answer=must_answer,
        is_tightened=is_tightened,
        refused=refused.record if refused else None,
        completes_index=True,
    )
    if refused and assembly.request == refused.request:
        raise ProviderError("context_too_long")
    record_context(turn, assembly.record.as_json())
    return Prepared(
        assembly.request,
        assembly.record,
        Estimates(
            system=estimate_tokens(system_prompt_of(turn.conversation)),
            tools=offered.tokens,
            prompt=estimate_tokens(question.prompt.text),
        ),
        least=sum(least_tokens(message.text) for message in assembly.request.messages),
    )


def _as_stored(done: Round, number: int) -> list[StoredMessage]:
    """The messages of the round for the next request: the answer in its provider's own form, where it has one."""
    results = tuple(done.returned)
    asked = estimate_tokens(done.text + "".join(f"{call.name} {call.arguments}" for call in done.calls))
    native = done.finished.native if done.finished else None
    return [
        StoredMessage(-1 - number, "assistant", done.text, asked, calls=tuple(done.calls), native=native),
        StoredMessage(
            -1 - number, "tool", "", sum(estimate_tokens(result.text) for result in results), results=results
        ),
    ]


def teach(turn: Turn, draft: Draft) -> None:
    """Have later estimates profit from what the provider reported; how much an image takes is another matter."""
    first = next((one.asked for one in draft.rounds if one.measured), None)
    if first and not any(message.images for message in first.request.messages):
        reported.teach(turn, draft.requests, first.estimates)


def trace(turn: Turn, draft: Draft, outcome: turns.Outcome) -> None:
    """Keep what the calls took, a row each; a round that broke before it was asked is none.

    The turn may have been erased meanwhile; then there is nothing to trace.
    """
    if not Turn.objects.filter(pk=turn.pk).exists():
        return
    ended = outcome.error_code or ("ok" if outcome.status == Turn.Status.COMPLETE else outcome.status)
    ModelCall.objects.bulk_create(
        _traced(turn, done, done.refused or (ended if done is draft.current and not done.calls else "ok"))
        for done in draft.rounds
        if done.was_asked
    )


def _traced(turn: Turn, done: Round, outcome: str) -> ModelCall:
    return call_of(
        turn.conversation_id,
        ModelCall.Purpose.REPLY,
        turn.model,
        end=done.finished,
        latency_ms=done.elapsed_ms,
        outcome=outcome,
        turn=turn,
        first_token_ms=done.first_token_ms,
    )
