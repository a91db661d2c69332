"""What a memory needs of the place where conversations are kept."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from conversations.appending import Said
from conversations.providers.values import Embedder


class UnknownConversation(LookupError):
    """There is none of that id, or it is in the bin, or over by rule."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """A message. Keys only grow: of two messages the later one has the greater key, and no key is used again.

    A note of excerpts is no message: it has neither key nor moment.
    """

    key: int | None
    role: str
    text: str
    created_at: datetime | None


class Store(Protocol):
    """Where conversations are kept. All but `count` of an unknown conversation raise `UnknownConversation`, too."""

    def append(self, conversation_id: UUID, said: Sequence[Said]) -> list[Remembered]:
        """All or none, behind the newest message.

        Raises:
            ConversationBusy: a reply is being written.
        """
        ...

    def newest(self, conversation_id: UUID, n: int) -> list[Remembered]:
        """The newest `n`, oldest first."""
        ...

    def matching(
        self,
        conversation_id: UUID,
        query: str,
        *,
        most: int,
        without: Collection[int | None],
        embedder: Embedder | None,
    ) -> list[Remembered]:
        """Those that match best, oldest first; messages with the keys `without` are not looked for."""
        ...

    def count(self, conversation_id: UUID) -> int:
        """
        Raises:
            UnknownConversation
        """
        ...

    def clear(self, conversation_id: UUID) -> int:
        """How many there were.

        Raises:
            ConversationBusy: a reply is being written.
        """
        ...
