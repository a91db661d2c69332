"""How the tokens of a model are shared out."""

from django.conf import settings

from conversations.context.values import Budget
from conversations.providers.overrides import override_of
from conversations.providers.registry import chat_model_info


def budget_for(model: str) -> Budget:
    """What is said of the model itself holds as it is said; of a small window the general figures take their share."""
    window, said = chat_model_info(model).window, override_of(model)
    return Budget(
        window=window,
        reply=_said(said.reply, max(1, min(settings.POCKETCHAT_REPLY_TOKENS, window // 4))),
        history=_said(said.history, settings.POCKETCHAT_HISTORY_TOKENS),
        retrieved=_said(said.retrieved, min(settings.POCKETCHAT_RETRIEVED_TOKENS, window // 8)),
        system=_said(said.system, min(settings.POCKETCHAT_SYSTEM_TOKENS, window // 4)),
    )


def _said(own: int | None, general: int) -> int:
    return general if own is None else own
