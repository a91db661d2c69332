"""A handle on the memory of a conversation."""

from collections.abc import Iterable, Sequence
from typing import Self
from uuid import UUID

from conversations.context import recalled
from conversations.index import INDEXED_ROLES
from conversations.memory.database import DatabaseStore
from conversations.memory.store import Remembered, Store
from conversations.models import Message
from conversations.providers.values import Embedder
from conversations.text import clean, is_blank

ROLES = {role.value: role for role in INDEXED_ROLES}

EXCERPTS = f"{recalled.EXCERPTS}; what was said between them is left out:"


class ConversationMemory:
    """A handle on a conversation. Any number of them, in any process, append to one without overwriting."""

    def __init__(self, store: Store, embedder: Embedder | None, conversation_id: UUID, length: int) -> None:
        self._store = store
        self._embedder = embedder
        self.conversation_id = conversation_id
        self._length = length

    @classmethod
    def open(cls, store: Store | None = None, embedder: Embedder | None = None, *, conversation_id: UUID | str) -> Self:
        """A handle on a conversation that there is; its owner is of no concern here.

        `store`: the database. `embedder`: the installation's; with another the index of what is looked at is made
        anew, and once more when the installation's own is asked again.

        Raises:
            UnknownConversation
            ValueError: the id is none.
        """
        store = store or DatabaseStore()
        key = UUID(str(conversation_id))
        return cls(store, embedder, key, store.count(key))

    @property
    def count(self) -> int:
        """Messages of the user and the assistant on the active branch now: the store is asked."""
        return self._store.count(self.conversation_id)

    @property
    def length(self) -> int:
        """Messages this handle knows of, without asking: those there were when it was opened, and those it has added
        since; none after `clear`. What others add or remove meanwhile is in `count` alone."""
        return self._length

    def add(self, role: str, text: str) -> Remembered:
        """Append a message of the `user` or the `assistant`.

        Raises:
            ValueError: another role, or no words.
            ConversationBusy: a reply is being written; wait for it, or stop it.
            UnknownConversation
        """
        return self.add_all([(role, text)])[0]

    def add_all(self, pairs: Iterable[tuple[str, str]]) -> list[Remembered]:
        """Append pairs of role and text, all or none, with nobody's messages between them. Raises as `add` does."""
        said = [(_known_role(role), _words(text)) for role, text in pairs]
        added = self._store.append(self.conversation_id, said) if said else []
        self._length += len(added)
        return added

    def recent(self, n: int = 10) -> list[Remembered]:
        """The newest `n` messages of the active branch, oldest first.

        Raises:
            ValueError: n is negative.
            UnknownConversation
        """
        _refuse_below(0, n=n)
        return self._store.newest(self.conversation_id, n) if n else []

    def recall(self, query: str, k: int = 4, skip_recent: int = 0) -> list[Remembered]:
        """The `k` messages of the active branch that match best, by words and by meaning, oldest first.

        The newest `skip_recent` are not looked for. An embedder that does not answer costs what would be found by
        meaning. Nothing matches a blank query.

        Raises:
            ValueError: k is less than 1, or skip_recent negative.
            UnknownConversation
        """
        _refuse_below(1, k=k)
        _refuse_below(0, skip_recent=skip_recent)
        return self._matching(query, k, without=self.recent(skip_recent))

    def context(self, query: str, recent_count: int = 8, recalled: int = 4) -> list[Remembered]:
        """What a model could be sent with `query`: one system note with the messages recalled, if there are any, then
        the newest ones. None is in both; the query itself is in neither.

        Raises:
            ValueError: a number is negative.
            UnknownConversation
        """
        _refuse_below(0, recent_count=recent_count, recalled=recalled)
        newest = self.recent(recent_count)
        found = self._matching(query, recalled, without=newest) if recalled else []
        return [*([_note(found)] if found else []), *newest]

    def clear(self) -> int:
        """Delete all messages for good, on every branch; returns how many. The conversation stays, empty, and has no
        title but one its owner gave it.

        Raises:
            ConversationBusy, UnknownConversation
        """
        removed = self._store.clear(self.conversation_id)
        self._length = 0
        return removed

    def _matching(self, query: str, most: int, *, without: Sequence[Remembered]) -> list[Remembered]:
        query = clean(query)
        if is_blank(query):
            return []
        keys = {message.key for message in without}
        return self._store.matching(self.conversation_id, query, most=most, without=keys, embedder=self._embedder)


def _note(found: Sequence[Remembered]) -> Remembered:
    said = [recalled.spoken(message.role.capitalize(), message.text) for message in found]
    return Remembered(None, "system", "\n\n".join([EXCERPTS, *said]), None)


def _known_role(role: str) -> Message.Role:
    if role not in ROLES:
        raise ValueError(f"A message is the user's or the assistant's, not {role!r}'s.")
    return ROLES[role]


def _words(text: str) -> str:
    if is_blank(clean(text)):
        raise ValueError("A message has words; this one is blank.")
    return text


def _refuse_below(least: int, **values: int) -> None:
    for name, value in values.items():
        if value < least:
            raise ValueError(f"{name} is {value}; it must be {least} or more.")
