"""What calls to providers took, a row each: never what was said."""

from contextlib import suppress
from decimal import Decimal
from uuid import UUID

from django.db import IntegrityError

from conversations.models import ModelCall


def trace(
    conversation_id: UUID,
    purpose: ModelCall.Purpose,
    model: str,
    *,
    outcome: str,
    latency_ms: int,
    input_tokens: int | None = None,
    output_tokens: int | None = None,
    cached_tokens: int | None = None,
    cost: Decimal | None = None,
) -> None:
    """Keep what one call took; `model` is `provider:name`, `outcome` `ok` or the code of an error.

    Of a conversation that was erased meanwhile no trace is wanted.
    """
    provider, _, name = model.partition(":")
    with suppress(IntegrityError):
        ModelCall.objects.create(
            conversation_id=conversation_id,
            purpose=purpose,
            provider=provider,
            model=name,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cached_tokens=cached_tokens,
            cost=cost,
            latency_ms=latency_ms,
            outcome=outcome,
        )
