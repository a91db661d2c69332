"""The index of a conversation's messages: written behind the messages, and asked which of them match a question.

It follows from the messages alone, and may be thrown away and made again at any time.
"""

from conversations.index.branch import INDEXED_ROLES, Branch, branch_of
from conversations.index.matches import Hit, candidates, ranked
from conversations.index.renewal import outdated, renew
from conversations.index.vectors import HARMLESS
from conversations.index.writing import BATCH, unindexed, write

__all__ = [
    "BATCH",
    "HARMLESS",
    "INDEXED_ROLES",
    "Branch",
    "Hit",
    "branch_of",
    "candidates",
    "outdated",
    "ranked",
    "renew",
    "unindexed",
    "write",
]
