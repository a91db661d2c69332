"""Which earlier turns are sent with a question.

Both policies send a contiguous end of the branch. One that skipped a turn too large and took older, smaller ones would
send more words, and a conversation that never took place: an answer without the question that explains it.
"""

from collections.abc import Iterable
from functools import partial
from itertools import takewhile

from conversations.context.pairs import MAX_CHARS, MAX_COMPLETED_PAIRS, check_prompt, fitting_pairs
from conversations.context.record import Reason
from conversations.context.values import Past, StoredTurn, Window, WindowPolicy

CUT_TO = (2, 3)
"""A window that overflows is cut to this share of its room."""

LEAST_LEFT = (1, 3)
"""Of its room, behind a summary that was written ahead: one that leaves less was written for a smaller model."""

MOST_MESSAGES = 1000
"""Of a window, however small they are."""


def stepped(start: int | None = None, *, reason: Reason | None = None) -> WindowPolicy:
    """The product's own: a window that stays where it is while it fits.

    `start` is the message that the window of the request before began with, None when there was none; `reason` is why
    it did not begin earlier. The window grows from there with every turn. When it overflows it is cut to two thirds of
    its room, or right behind what a summary was written ahead for, and begins there until the next overflow: in
    between, each request is the one before and something behind it, which providers' prompt caches know again.
    """
    return partial(_stepped, start=start, reason=reason)


def _stepped(past: Past, tokens: int, *, start: int | None, reason: Reason | None) -> Window:
    since = next((at for at, turn in enumerate(past.turns) if start in turn.ids), None)
    kept = past.turns[since or 0 :]
    # What was not read did not fit, unless it lies before a window that stays where it was.
    goes_on = since is not None or past.unread is None
    if goes_on and len(_newest(kept, tokens, MOST_MESSAGES)) == len(kept):
        return Window(kept, reason or _reason(past, kept, tokens))
    if (prepared := _behind_a_summary(past, kept, tokens)) is not None:
        return Window(prepared, _reason(past, prepared, tokens), was_cut=True)
    share, of = CUT_TO
    newest = _newest(kept, tokens * share // of, MOST_MESSAGES * share // of)
    # The newest turn is what the question is about: it is kept if it fits at all.
    newest = newest or _newest(kept[-1:], tokens, MOST_MESSAGES)
    return Window(newest, _reason(past, newest, tokens), was_cut=True)


def _behind_a_summary(past: Past, kept: tuple[StoredTurn, ...], tokens: int) -> tuple[StoredTurn, ...] | None:
    """The turns right behind a summary that ends within `kept`, when they fit; of several such ends the one nearest to
    what a window is cut to."""
    (least, of_least), (share, of) = LEAST_LEFT, CUT_TO
    through = {one.through for one in past.summaries}
    ends = [kept[at:] for at in range(1, len(kept)) if kept[at - 1].ids[-1] in through]
    fitting = [end for end in ends if len(_newest(end, tokens, MOST_MESSAGES)) == len(end)]
    usable = [end for end in fitting if tokens_of(end) >= tokens * least // of_least]
    return min(usable, key=lambda end: abs(tokens_of(end) - tokens * share // of), default=None)


def pairs(prompt: str, *, max_chars: int = MAX_CHARS, max_completed_pairs: int = MAX_COMPLETED_PAIRS) -> WindowPolicy:
    """The rules of `build_context` for the question `prompt`; what they choose must fit the model as well.

    Raises:
        PromptTooLong, ValueError: see `build_context`.
    """
    check_prompt(prompt, max_chars=max_chars)
    return partial(_pairs, chars=max_chars - len(prompt), most=max_completed_pairs)


def _pairs(past: Past, tokens: int, *, chars: int, most: int) -> Window:
    kept = _newest(fitting_pairs(past.turns, chars, most), tokens, MOST_MESSAGES)
    earlier = [turn for turn in past.turns[: begin_of(past.turns, kept)] if turn.is_complete]
    if not earlier and past.unread is None:
        return Window(kept, "not_complete")
    if len(kept) == most:
        return Window(kept, "pair_limit")
    is_too_large = any(turn.tokens > tokens or not fitting_pairs([turn], chars, most) for turn in earlier[-1:])
    return Window(kept, "turn_too_large" if is_too_large else "history_budget")


def _newest(turns: tuple[StoredTurn, ...], tokens: int, messages: int) -> tuple[StoredTurn, ...]:
    """The newest turns that take at most so many tokens and messages."""
    spent = count = 0

    def fits(turn: StoredTurn) -> bool:
        nonlocal spent, count
        spent += turn.tokens
        count += len(turn.messages)
        return spent <= tokens and count <= messages

    taken = len(list(takewhile(fits, reversed(turns))))
    return turns[len(turns) - taken :]


def _reason(past: Past, kept: tuple[StoredTurn, ...], tokens: int) -> Reason:
    """Why the window does not begin earlier; it is told when there is something earlier."""
    begins = begin_of(past.turns, kept)
    next_tokens = past.turns[begins - 1].tokens if begins else past.unread_tokens
    return "turn_too_large" if next_tokens > tokens else "history_budget"


def tokens_of(turns: Iterable[StoredTurn]) -> int:
    return sum(turn.tokens for turn in turns)


def begin_of(turns: tuple[StoredTurn, ...], kept: tuple[StoredTurn, ...]) -> int:
    """The place of the first of those that are kept; behind the last one when none is."""
    return next((at for at, turn in enumerate(turns) if turn is kept[0]), len(turns)) if kept else len(turns)
