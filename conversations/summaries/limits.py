"""How many tokens a summary may take."""

from conversations.budgets import budget_for
from conversations.providers.registry import BUNDLED

MOST_TOKENS = 600
"""Of a summary that a model writes: long enough for what matters, and cheap to send each time."""
MOST_TOKENS_OF_BUNDLED = 160
"""The bundled model is slow, and loses the thread in longer texts."""
LEAST_TOKENS = 40
"""What is shorter says nothing: where there is no room for so much, none is written."""


def most_tokens_of_owners(model: str) -> int:
    """Of one that its owner writes, for a conversation with that model: half of what is kept free for it and for what
    is brought back."""
    return budget_for(model).retrieved // 2


def most_tokens(model: str, *, writer: str) -> int:
    """Of one that the model `writer` writes for a conversation with `model`."""
    return min(most_tokens_of_owners(model), MOST_TOKENS_OF_BUNDLED if writer == BUNDLED else MOST_TOKENS)
