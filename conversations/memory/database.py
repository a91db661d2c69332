"""The conversations of this installation, as a memory's store."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from uuid import UUID

from django.db import connection
from django.http import Http404

from conversations import appending, index, meaning
from conversations.memory.store import Remembered, UnknownConversation
from conversations.models import Conversation, Message
from conversations.providers import registry
from conversations.providers.errors import ProviderError
from conversations.providers.values import Embedder
from conversations.querysets import present
from conversations.recollections import ON_DEMAND, best
from conversations.tree import WHOLE_BRANCH


class DatabaseStore:
    """See `Store`."""

    def append(self, conversation_id: UUID, said: Sequence[appending.Said]) -> list[Remembered]:
        try:
            return [_remembered(row) for row in appending.append(conversation_id, said)]
        except Http404 as error:
            raise UnknownConversation(conversation_id) from error

    def newest(self, conversation_id: UUID, n: int) -> list[Remembered]:
        head_id, rows = self._head(conversation_id), n
        while True:
            branch = list(Message.objects.branch(head_id, rows=rows))
            said = [row for row in branch if row.role in index.INDEXED_ROLES]
            if len(said) >= n or len(branch) < rows:
                return [_remembered(row) for row in said[-n:]]
            rows *= 2  # What tools brought stands between.

    def matching(
        self,
        conversation_id: UUID,
        query: str,
        *,
        most: int,
        without: Collection[int | None],
        embedder: Embedder | None,
    ) -> list[Remembered]:
        branch = index.branch_of(conversation_id, self._head(conversation_id))
        self._complete_index(conversation_id, embedder or registry.embedder())
        vector = meaning.if_at_hand(conversation_id, query, model=embedder)
        known = [key for key in without if key is not None]
        hits = best(branch, query, vector, most=most, without=known, completes=ON_DEMAND, model=embedder)
        rows = Message.objects.filter(conversation=conversation_id, pk__in=[hit.message_id for hit in hits])
        return [_remembered(row) for row in rows.order_by("pk")]

    def _complete_index(self, conversation_id: UUID, embedder: Embedder) -> None:
        """A program waits, also until the embedder is loaded; without it words must do. In a transaction nobody waits
        for a provider."""
        if not (embedder.is_remote and connection.in_atomic_block):
            with suppress(ProviderError):
                index.write(index.unindexed(conversation_id, model=embedder)[:ON_DEMAND], model=embedder)

    def count(self, conversation_id: UUID) -> int:
        branch = Message.objects.branch(self._head(conversation_id), rows=WHOLE_BRANCH)
        return branch.filter(role__in=index.INDEXED_ROLES).count()

    def clear(self, conversation_id: UUID) -> int:
        try:
            return appending.clear(conversation_id)
        except Http404 as error:
            raise UnknownConversation(conversation_id) from error

    def _head(self, conversation_id: UUID) -> int | None:
        found = Conversation.objects.filter(present(), pk=conversation_id).values_list("head_id").first()
        if found is None:
            raise UnknownConversation(conversation_id)
        head_id: int | None = found[0]
        return head_id


def _remembered(row: Message) -> Remembered:
    return Remembered(row.pk, row.role, row.text, row.created_at)
