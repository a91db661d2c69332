"""How the tokens of a model are shared out."""

from django.conf import settings

from conversations.context.values import Budget
from conversations.providers.overrides import override_of
from conversations.providers.registry import BUNDLED, chat_model_info

MOST_OF_A_SUMMARY = 600
"""Tokens of a summary that a model writes: long enough for what matters, and cheap to send each time."""
MOST_OF_BUNDLED = 400
"""The same of the bundled model, which has little room, and is not asked for more than a sentence at once."""
LONGEST_OF_BUNDLED = 800
"""Tokens of a reply: what it writes beyond, it has written before."""
LEAST_OF_A_SUMMARY = 40
"""Tokens; what is shorter says nothing: where there is no room for so much, none is written."""


def budget_for(model: str) -> Budget:
    """What is said of the model itself holds as it is said; of a small window the general figures take their share."""
    window, said = chat_model_info(model).window, override_of(model)
    return Budget(
        window=window,
        reply=_said(said.reply, max(1, min(settings.POCKETCHAT_REPLY_TOKENS, window // 4, *_longest_of(model)))),
        history=_said(said.history, settings.POCKETCHAT_HISTORY_TOKENS),
        retrieved=_said(said.retrieved, min(settings.POCKETCHAT_RETRIEVED_TOKENS, window // 8)),
        system=_said(said.system, min(settings.POCKETCHAT_SYSTEM_TOKENS, window // 4)),
    )


def most_of_owners_summary(model: str) -> int:
    """Tokens of a summary that its owner writes, in a conversation with that model: half of what is kept free for it
    and for what is brought back."""
    return budget_for(model).retrieved // 2


def most_of_summary(model: str, *, writer: str) -> int:
    """Of one that the model `writer` writes for a conversation with `model`."""
    return min(most_of_owners_summary(model), MOST_OF_BUNDLED if writer == BUNDLED else MOST_OF_A_SUMMARY)


def _longest_of(model: str) -> tuple[int, ...]:
    return (LONGEST_OF_BUNDLED,) if model == BUNDLED else ()


def _said(own: int | None, general: int) -> int:
    return general if own is None else own
