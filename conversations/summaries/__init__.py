"""Rolling summaries: a text that stands for what no longer fits into a request.

A model writes it in the background and continues it from what it wrote before. Its owner can read, correct and remove
it, and switch it off for a conversation. Nothing of the transcript is ever changed by it.
"""

from conversations.summaries.progress import Progress, progress_of
from conversations.summaries.rolling import is_due, roll
from conversations.summaries.versions import NONE_YET, correct, current, forget, measured, remove, switch, versions

__all__ = [
    "NONE_YET",
    "Progress",
    "correct",
    "current",
    "forget",
    "is_due",
    "measured",
    "progress_of",
    "remove",
    "roll",
    "switch",
    "versions",
]
