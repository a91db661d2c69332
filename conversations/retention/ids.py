"""What an erasure names: ids alone, by which every store finds what it has of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from uuid import UUID

from conversations.models import Erasure


@dataclass(frozen=True, slots=True)
class Ids:
    """Of conversations and accounts that are gone with all they had, and of turns."""

    conversations: frozenset[UUID] = frozenset()
    turns: frozenset[UUID] = frozenset()
    accounts: frozenset[int] = frozenset()

    @classmethod
    def of(cls, erasure: Erasure) -> "Ids":
        return cls(frozenset(erasure.conversations), frozenset(erasure.turns), frozenset(erasure.accounts))

    @property
    def names(self) -> frozenset[str]:
        """As texts carry them. The number of an account could be the number of anything else."""
        return frozenset(map(str, self.conversations | self.turns))

    def __or__(self, other: "Ids") -> "Ids":
        return Ids(self.conversations | other.conversations, self.turns | other.turns, self.accounts | other.accounts)


def all_of(many: Iterable[Ids]) -> Ids:
    return reduce(Ids.__or__, many, Ids())
