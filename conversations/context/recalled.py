"""Older turns in the words in which a model is given them: before the question, as part of it.

A system message in the middle is refused by some servers and moved to the top by others, where it would spoil the
beginning that every request shares with the one before.
"""

from collections.abc import Sequence

from conversations.context.values import Recollection, StoredTurn

EXCERPTS = "Excerpts from earlier in this conversation that may help to answer"
BEGIN = f"[{EXCERPTS}:"
END = "End of the excerpts. The question follows.]"
INDENT = "\n  "
"""Mostly as many tokens as the line end alone."""
NOTE_TOKENS = 30
"""About what the frame takes."""


def with_recollections(question: str, recalled: Sequence[Recollection]) -> str:
    """The question behind the excerpts; alone when there are none."""
    if not recalled:
        return question
    return "\n\n".join([BEGIN, *(_excerpt(one.turn) for one in recalled), END, question])


def _excerpt(turn: StoredTurn) -> str:
    said = (("User", turn.prompt), ("Assistant", turn.answer))
    return "\n".join(spoken(who, text) for who, text in said if text.strip())


def spoken(who: str, text: str) -> str:
    """Who said it, and the words. Their further lines are set in: so none passes for another speaker, nor for the end
    of the excerpts and the question behind it."""
    return f"{who}: {INDENT.join(text.strip().splitlines())}"
