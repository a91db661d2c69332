"""What the figures that a provider reported say about a request: pure decisions over records."""

from dataclasses import dataclass

from conversations.context.record import Record

PLAUSIBLE = 4
"""A question this many times as large as its estimate, or this small a part of it, was not measured: no tokenizer is
so far from the estimates (see the table in `conversations.text`)."""

AROUND = 40
"""Tokens that templates put around a question and the answer before it, at most."""

CLEARLY = 200
"""Tokens that must be missing before it is said that some are: below, templates and rounding may explain it."""

GROWN = 0.98
"""A request that holds the one before cannot be smaller; a little is left to counts that were only approximate."""

READ_WHOLE = 0.8
"""Of our own count: what a server reports that reads everything again, its window having been enlarged."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A request that was answered, and what its provider reported of it."""

    record: Record
    reported: int | None
    """Prompt tokens; None: it did not say."""
    cached: int | None = None
    least: int = 0
    """Tokens that its texts take by any tokenizer."""


@dataclass(frozen=True, slots=True)
class Before:
    """The request before on the same branch, to the same model, and the message it brought."""

    record: Record
    answer: int
    """The message."""
    answer_tokens: int | None = None
    """As its provider counted it, without reasoning; None: it did not."""


def question_size(asked: Measured, before: Before | None, *, estimate: int) -> int | None:
    """The tokens of the question itself, with what the template puts around it; None where it is not known.

    It is known when the request is the one before, its answer, and the question: then the difference between the two
    reported figures, without the answer, is the question's. Another summary, recollections, results of tools (which are
    sent under other ids once they are history), a window that was cut, another system prompt or other tools make it
    another request.
    """
    if before is None or before.answer_tokens is None:
        return None
    now, then = asked.record, before.record
    if asked.reported is None or then.reported is None or now.truncated or then.truncated:
        return None
    if now.sent[:-1] != (*then.sent, before.answer) or now.beginning != then.beginning or not now.beginning:
        return None
    if now.summary != then.summary or not (_is_plain(now) and _is_plain(then)):
        return None
    size = asked.reported - then.reported - before.answer_tokens
    return size if 0 < size <= PLAUSIBLE * estimate + AROUND and size * PLAUSIBLE >= estimate else None


def _is_plain(record: Record) -> bool:
    return not record.recalled and not record.tokens_of("rounds")


def is_truncated(asked: Measured, before: Record | None) -> bool:
    """Whether the server read clearly less than it was sent, as those do that cut what exceeds their window.

    Our own count alone does not tell: for some scripts it is twice what a tokenizer makes. What tells is a figure
    below what any tokenizer makes of the texts, or below that of the request `before`, of which this one is a
    continuation. Once a server has cut a conversation it goes on to, unless it reads about all of it again.

    What a provider read from its cache was read: some count it apart. A figure that is no more than what was added to
    the request before is of a server that counts the rest as cached without saying so.
    """
    if asked.reported is None:
        return False
    read = asked.reported + (asked.cached or 0)
    goes_on = before is not None and _continues(asked.record, before)
    if goes_on and before is not None and read <= 2 * max(asked.record.tokens - before.tokens, 0) + CLEARLY:
        return False
    if read + CLEARLY <= asked.least:
        return True
    if not goes_on or before is None or before.reported is None:
        return False
    if before.truncated:
        return read < READ_WHOLE * asked.record.tokens
    return read < GROWN * before.reported and read + CLEARLY <= before.reported


def _continues(now: Record, before: Record) -> bool:
    """Nothing of the request before is missing in this one."""
    same = now.beginning == before.beginning and now.sent[: len(before.sent)] == before.sent
    return same and not before.recalled and before.summary == now.summary and now.shortened == before.shortened
