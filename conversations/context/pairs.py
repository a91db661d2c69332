"""`build_context`: the newest completed pairs of question and answer, measured in characters."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from conversations.context.values import StoredTurn
from conversations.providers.values import ChatMessage
from conversations.refusals import PromptTooLong

PROMPT_CHARACTERS = 6_000
"""Of a question under this policy, at most."""
TOO_LONG = f"Keep your question under {PROMPT_CHARACTERS:,} characters."

MAX_CHARS = 24_000
MAX_COMPLETED_PAIRS = 6


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """What is sent, in order of time, the question last.

    `omitted`: a limit kept out a turn that could have been sent.
    """

    parts: tuple[ChatMessage, ...]
    omitted: bool


def build_context(
    turns: Sequence[StoredTurn],
    prompt: str,
    *,
    max_chars: int = MAX_CHARS,
    max_completed_pairs: int = MAX_COMPLETED_PAIRS,
) -> ContextWindow:
    """The newest completed pairs that fit beside `prompt` into `max_chars` characters, whole and without a gap.

    `turns` are in order of time. Only those that are complete can be sent; the others take nothing of either limit. A
    pair counts with question and answer. The first that does not fit ends the search: an older, smaller one
    would stand there without what came between.

    Raises:
        PromptTooLong: the question exceeds 6,000 characters, or `max_chars`.
        ValueError: `max_completed_pairs` is not positive.
    """
    check_prompt(prompt, max_chars=max_chars)
    eligible = [turn for turn in turns if turn.is_complete]
    chosen = fitting_pairs(eligible, max_chars - len(prompt), max_completed_pairs)
    said = [
        part for turn in chosen for part in (ChatMessage("user", turn.prompt), ChatMessage("assistant", turn.answer))
    ]
    return ContextWindow((*said, ChatMessage("user", prompt)), omitted=len(chosen) < len(eligible))


def check_prompt(prompt: str, *, max_chars: int = MAX_CHARS) -> None:
    """Raises `PromptTooLong`."""
    limit = min(PROMPT_CHARACTERS, max_chars)
    if len(prompt) > limit:
        raise PromptTooLong(size=len(prompt), limit=limit, unit="characters", sentence=TOO_LONG)


def fitting_pairs(turns: Sequence[StoredTurn], chars: int, most: int) -> tuple[StoredTurn, ...]:
    """The newest of the completed turns that take at most so many characters, and are at most so many.

    Raises:
        ValueError: `most` is not positive.
    """
    if most < 1:
        raise ValueError("max_completed_pairs must be positive.")
    eligible = tuple(turn for turn in turns if turn.is_complete)
    spent = 0

    def fits(turn: StoredTurn) -> bool:
        nonlocal spent
        spent += len(turn.prompt) + len(turn.answer)
        return spent <= chars

    taken = len(list(takewhile(fits, reversed(eligible[-most:]))))
    return eligible[len(eligible) - taken :]
