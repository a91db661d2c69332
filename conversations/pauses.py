"""Embedders that failed a moment ago: nobody waits for them again just now."""

import time
from typing import Literal

from conversations.providers.errors import ProviderError
from conversations.providers.values import Embedder

PAUSE_SECONDS = 30.0
"""After a provider did not answer, whoever would wait for it does without for so long."""

PAUSING = {"timed_out", "unreachable", "provider_down", "rate_limited"}
"""Codes that would be the same for the next. What else goes wrong has to do with the text, or is told at once."""

Work = Literal["question", "index"]

_paused_until: dict[tuple[str, Work], float] = {}


def is_paused(model: Embedder, work: Work) -> bool:
    """Whether the embedder failed at this work a moment ago, or at the least of all, a question."""
    now = time.monotonic()
    return any(_paused_until.get((model.name, kind), 0.0) > now for kind in {work, "question"})


def pause_after(error: ProviderError, model: Embedder, work: Work) -> None:
    """Let nobody wait for this work for a while, if the next would fare no better.

    The bundled one is slow while it is loaded, and never again.
    """
    if model.is_remote and error.code in PAUSING:
        _paused_until[model.name, work] = time.monotonic() + PAUSE_SECONDS


def forget() -> None:
    _paused_until.clear()
