"""What a reply's model will see, and the trace of what its calls took."""

from collections.abc import Mapping

from conversations import turns
from conversations.context.values import StoredMessage
from conversations.contexts import context_of, question_of, record_context
from conversations.models import ModelCall, Turn
from conversations.providers.values import ChatRequest
from conversations.replies.draft import Draft, Round
from conversations.text import estimate_tokens
from conversations.tools.toolbox import toolbox
from conversations.tools.values import Tool


def prepared(
    turn: Turn, draft: Draft, tools: Mapping[str, Tool], *, must_answer: bool, is_tightened: bool = False
) -> ChatRequest:
    """Assemble the request of the round that begins, and record by reference what it contains.

    Raises:
        PromptTooLong: the question does not fit, for instance because the settings have changed since it was asked.
    """
    assembly = context_of(
        question_of(turn),
        tools=toolbox(tools),
        rounds=[message for number, done in enumerate(draft.rounds[:-1]) for message in _as_stored(done, number)],
        must_answer=must_answer,
        is_tightened=is_tightened,
    )
    record_context(turn, assembly.record.as_json())
    return assembly.request


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


def trace(turn: Turn, draft: Draft, outcome: turns.Outcome) -> None:
    """Keep what the calls took, a row each; a round that broke before it was asked is none.

    The turn may have been erased meanwhile; then there is nothing to trace.
    """
    if not Turn.objects.filter(pk=turn.pk).exists():
        return
    ended = outcome.error_code or ("ok" if outcome.status == Turn.Status.COMPLETE else outcome.status)
    ModelCall.objects.bulk_create(
        _traced(turn, done, ended if done is draft.current and not done.calls else "ok")
        for done in draft.rounds
        if done.was_asked
    )


def _traced(turn: Turn, done: Round, outcome: str) -> ModelCall:
    provider, _, model = turn.model.partition(":")
    end = done.finished
    return ModelCall(
        conversation_id=turn.conversation_id,
        turn=turn,
        purpose=ModelCall.Purpose.REPLY,
        provider=provider,
        model=model,
        input_tokens=end.input_tokens if end else None,
        output_tokens=end.output_tokens if end else None,
        cached_tokens=end.cached_tokens if end else None,
        cost=end.cost if end else None,
        first_token_ms=done.first_token_ms,
        latency_ms=done.elapsed_ms,
        outcome=outcome,
    )
