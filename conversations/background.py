"""Questions that nobody waits for, for a title or a summary: asked of the small model, and traced.

The bundled model shares two processors with the replies: there such a question gives way to a reply, and is asked
again behind a later one.
"""

import time
from uuid import UUID

from conversations.models import ModelCall, Turn
from conversations.pace import keeps_pace
from conversations.providers.errors import ProviderError
from conversations.providers.registry import BUNDLED, small_model_name
from conversations.providers.values import ChatRequest
from conversations.providers.whole import WholeAnswer, answer_of
from conversations.tracing import call_of, keep

MOST_A_MINUTE = 60
"""Of one purpose, in the whole installation: whoever pays for a model pays for replies, and they come first."""


def ask(conversation_id: UUID, purpose: ModelCall.Purpose, request: ChatRequest, *, seconds: float) -> WholeAnswer:
    """Wait for the answer, at most so many seconds; not in a transaction. Whoever judges it has it `traced`.

    Raises:
        ProviderError: there is none, which is traced already; `out_of_pace` when nothing was asked, which is not.
    """
    if not keeps_pace(f"{purpose}", most=MOST_A_MINUTE):
        raise ProviderError("out_of_pace")
    model, began = small_model_name(), time.monotonic()
    try:
        return answer_of(model, request, seconds=seconds, gives_way=_is_reply_waiting if model == BUNDLED else None)
    except ProviderError as error:
        took = round((time.monotonic() - began) * 1000)
        keep(call_of(conversation_id, purpose, model, end=None, latency_ms=took, outcome=error.code))
        raise


def traced(conversation_id: UUID, purpose: ModelCall.Purpose, answer: WholeAnswer, outcome: str) -> None:
    """Keep what became of an answer: `ok`, or in a word why it was no use."""
    model = small_model_name()
    keep(call_of(conversation_id, purpose, model, end=answer.end, latency_ms=answer.elapsed_ms, outcome=outcome))


def _is_reply_waiting() -> bool:
    return bool(Turn.objects.live().filter(model=BUNDLED).exists())
