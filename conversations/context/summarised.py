"""`keep_last_with_summary`: the last messages, and a summary that stands for the others."""

from collections.abc import Callable, Sequence
from itertools import dropwhile

from conversations.providers.values import ChatMessage

LABEL = "Summary of earlier conversation:"


def keep_last_with_summary(
    messages: Sequence[ChatMessage], *, summary: Callable[[], str], count: int, label: str = LABEL
) -> tuple[ChatMessage, ...]:
    """System messages first, then the summary, then the last `count` of the others.

    `summary` is asked anew by every call that leaves something out, so that it may be of today; a blank text is not
    sent. It stands under `label`, as one system message. Results of tools that would come first, without their
    calls, are left out as well. `messages` stay as they are.

    Raises:
        ValueError: `count` is negative.
    """
    if count < 0:
        raise ValueError("count must not be negative.")
    system = [message for message in messages if message.role == "system"]
    others = [message for message in messages if message.role != "system"]
    last = list(dropwhile(lambda message: message.role == "tool", others[len(others) - min(count, len(others)) :]))
    text = summary() if len(last) < len(others) else ""
    return (*system, *([summary_message(text, label=label)] if text.strip() else []), *last)


def summary_message(text: str, *, label: str = LABEL) -> ChatMessage:
    """A summary as a model is given it."""
    return ChatMessage("system", f"{label}\n{text.strip()}")
