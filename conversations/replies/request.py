"""What a reply's model will see, and the trace of what the call took."""

from conversations import turns
from conversations.context.assemble import assemble
from conversations.models import ModelCall, Turn
from conversations.prompts import budget_for, system_prompt_of
from conversations.providers.values import ChatRequest
from conversations.replies.draft import Draft
from conversations.text import estimate_tokens


def prepared(turn: Turn) -> ChatRequest:
    """Assemble the request, and record by reference what it contains.

    Raises:
        PromptTooLong: the question does not fit, for instance because the settings have changed since it was asked.
    """
    budget = budget_for(turn.model)
    system_prompt = system_prompt_of(turn.conversation)
    assembly = assemble(
        turns.earlier_turns(turn, tokens=budget.history),
        turns.stored(turn.prompt),
        system_prompt=system_prompt,
        system_tokens=estimate_tokens(system_prompt),
        budget=budget,
    )
    turns.record_context(turn, assembly.record.as_json())
    return assembly.request


def trace(turn: Turn, draft: Draft, outcome: turns.Outcome) -> None:
    """Keep what the call took. The turn may have been erased meanwhile; then there is nothing to trace."""
    if not Turn.objects.filter(pk=turn.pk).exists():
        return
    provider, _, model = turn.model.partition(":")
    ModelCall.objects.create(
        conversation_id=turn.conversation_id,
        turn=turn,
        purpose=ModelCall.Purpose.REPLY,
        provider=provider,
        model=model,
        input_tokens=outcome.input_tokens,
        output_tokens=outcome.output_tokens,
        cached_tokens=outcome.cached_tokens,
        cost=outcome.cost,
        first_token_ms=draft.first_token_ms,
        latency_ms=draft.elapsed_ms,
        outcome=outcome.error_code or ("ok" if outcome.status == Turn.Status.COMPLETE else outcome.status),
    )
