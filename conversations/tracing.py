"""The trace of requests to models: what each was for, what it took and how it ended, never what was said."""

from contextlib import suppress
from typing import Any
from uuid import UUID

from django.db import IntegrityError

from conversations.models import ModelCall
from conversations.providers.values import Finished


def call_of(
    conversation_id: UUID,
    purpose: ModelCall.Purpose,
    model: str,
    *,
    end: Finished | None,
    latency_ms: int,
    outcome: str,
    **more: Any,
) -> ModelCall:
    """The row of a request to `provider:name`, not yet stored; `end` is None where the model came to none."""
    provider, _, name = model.partition(":")
    return ModelCall(
        conversation_id=conversation_id,
        purpose=purpose,
        provider=provider,
        model=name,
        input_tokens=end.input_tokens if end else None,
        output_tokens=end.output_tokens if end else None,
        cached_tokens=end.cached_tokens if end else None,
        cost=end.cost if end else None,
        latency_ms=latency_ms,
        outcome=outcome,
        **more,
    )


def keep(call: ModelCall) -> None:
    """Store it, unless its conversation was erased meanwhile: then no trace is wanted."""
    with suppress(IntegrityError):
        call.save(force_insert=True)
