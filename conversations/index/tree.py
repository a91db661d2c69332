"""How the messages of a conversation hang together, as far back as is looked.

A process keeps what it has read, which are numbers alone, and asks for newer messages only: the parent of a message
never changes, nor does its role, and no id is used again. What is deleted takes along what hangs off it, so a head
that is there has the ancestors it had.
"""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Self
from uuid import UUID

import numpy as np
from django.db import connection

from conversations.index.packed import BITS, Integers, numbers_of, unpacked
from conversations.recall.scores import along_branch

MOST_MESSAGES = 20_000
"""Of a conversation, the newest before a question, are looked at: what a recall costs grows no further. Older ones are
still found by the search."""

MOST_KEPT = 200_000
"""Messages of all conversations together, 5 MB of a process."""

USER, ASSISTANT = 1, 2

FAR = (1 << BITS - 2) - 1
"""A parent so many ids before its child, or more, is told apart."""

TREE_SQL = f"""
    SELECT string_agg(int8send(
               (id << {BITS}) | (steps << 2)
               | CASE role WHEN 'user' THEN {USER} WHEN 'assistant' THEN {ASSISTANT} ELSE 0 END
           ), ''),
           string_agg(int8send(id), '') FILTER (WHERE steps = {FAR}),
           string_agg(int8send(parent_id), '') FILTER (WHERE steps = {FAR})
    FROM (
        SELECT id, parent_id, role, least(id - coalesce(parent_id, id), {FAR}) AS steps
        FROM conversations_message
        WHERE conversation_id = %s AND id > %s AND id <= %s ORDER BY id DESC LIMIT %s
    ) AS newest
"""  # noqa: S608  # numbers of ours
"""A parent is told by how many ids it lies before its child, 0: there is none."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Messages in the order of their ids; of each its parent, 0: none, and who speaks."""

    ids: Integers
    parents: Integers
    roles: Integers

    def behind(self, older: Self) -> Self:
        """These after others; the newest, as many as are looked at."""
        columns = ((older.ids, self.ids), (older.parents, self.parents), (older.roles, self.roles))
        return type(self)(*(np.concatenate(both)[-MOST_MESSAGES:] for both in columns))

    def branch(self, head_id: int) -> Self | None:
        """The branch that ends in a message, as far back as is looked; None: something of it is not known here."""
        end = int(np.searchsorted(self.ids, head_id, side="right"))
        start = max(end - MOST_MESSAGES, 0)
        at = start + along_branch(self.ids[start:end], self.parents[start:end], head_id)
        is_whole = at.size and (self.parents[at[0]] == 0 or end - start == MOST_MESSAGES)
        return type(self)(self.ids[at], self.parents[at], self.roles[at]) if is_whole else None


NOTHING = Tree(*(np.array([], dtype=np.int64) for _ in range(3)))

_kept: OrderedDict[UUID, Tree] = OrderedDict()
_lock = Lock()


def branch_in(conversation_id: UUID, head_id: int) -> Tree:
    """The branch that ends in `head_id`; empty if it is no message of the conversation."""
    known = _known(conversation_id)
    if known is not NOTHING:
        newer = _read(conversation_id, head_id, after=int(known.ids[-1]))
        known = newer.behind(known) if newer.ids.size else known
        if (branch := known.branch(head_id)) is not None:
            _keep(conversation_id, known)
            return branch
    # What was committed late, behind newer ids, or is older than what is kept.
    known = _read(conversation_id, head_id, after=0)
    if (branch := known.branch(head_id)) is None:
        return NOTHING
    _keep(conversation_id, known)
    return branch


def forget() -> None:
    with _lock:
        _kept.clear()


def _read(conversation_id: UUID, head_id: int, *, after: int) -> Tree:
    with connection.cursor() as cursor:
        cursor.execute(TREE_SQL, [conversation_id, after, head_id, MOST_MESSAGES])
        found, far, far_parents = cursor.fetchone()
    ids, facts = unpacked(found)
    steps, roles = facts >> 2, facts & 3
    parents = np.where(steps == 0, 0, ids - steps)
    parents[np.searchsorted(ids, numbers_of(far))] = numbers_of(far_parents)
    return Tree(ids, parents, roles)


def _known(conversation_id: UUID) -> Tree:
    with _lock:
        if conversation_id not in _kept:
            return NOTHING
        _kept.move_to_end(conversation_id)
        return _kept[conversation_id]


def _keep(conversation_id: UUID, tree: Tree) -> None:
    with _lock:
        _kept[conversation_id] = tree
        _kept.move_to_end(conversation_id)
        while len(_kept) > 1 and sum(one.ids.size for one in _kept.values()) > MOST_KEPT:
            _kept.popitem(last=False)
