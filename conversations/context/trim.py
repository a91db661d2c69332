"""`trim`: the newest messages that fit, by their stored counts."""

from collections.abc import Sequence

from conversations.context.values import StoredMessage


def trim(messages: Sequence[StoredMessage], budget: int) -> tuple[StoredMessage, ...]:
    """The longest end of `messages` that takes at most `budget` tokens, without a gap.

    It never begins with a message of a tool, and never parts a call from its results: calls of which a result would be
    sent without them are left out with all before them. Empty when nothing fits.
    """
    called_at: dict[str, int] = {}
    for at, message in enumerate(messages):
        for call in message.calls:
            called_at.setdefault(call.id, at)
    best, spent = len(messages), 0
    waiting: set[str] = set()
    """Results that would be sent, and whose calls would not."""
    for at in range(len(messages) - 1, -1, -1):
        spent += messages[at].tokens
        if spent > budget:
            break
        waiting |= {result.call_id for result in messages[at].results}
        waiting -= {call.id for call in messages[at].calls}
        parts_a_call = any(called_at.get(call_id, at) < at for call_id in waiting)
        if messages[at].role != "tool" and not parts_a_call:
            best = at
    return tuple(messages[best:])
