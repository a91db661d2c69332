"""The messages among which is looked: those of one branch, and how they hang together."""

from dataclasses import dataclass
from uuid import UUID

import numpy as np
import numpy.typing as npt
from django.db import connection

from conversations.index.packed import BITS, are_among, numbers_of, unpacked
from conversations.models import Message
from conversations.recall.scores import Candidates, along_branch

INDEXED_ROLES = (Message.Role.USER, Message.Role.ASSISTANT)

MOST_MESSAGES = 20_000
"""Of a conversation, the newest before a question, are looked at: what a recall costs grows no further. Older ones are
still found by the search."""

FAR = (1 << BITS - 2) - 1
"""A parent so many ids before its child, or more, is told apart."""

BRANCH_SQL = f"""
    SELECT string_agg(int8send(
               (id << {BITS}) | (steps << 2) | CASE role WHEN 'user' THEN 1 WHEN 'assistant' THEN 2 ELSE 0 END
           ), ''),
           string_agg(int8send(id), '') FILTER (WHERE steps = {FAR}),
           string_agg(int8send(parent_id), '') FILTER (WHERE steps = {FAR})
    FROM (
        SELECT id, parent_id, role, least(id - coalesce(parent_id, id), {FAR}) AS steps
        FROM conversations_message
        WHERE conversation_id = %s AND id <= %s ORDER BY id DESC LIMIT %s
    ) AS newest
"""  # noqa: S608  # numbers of ours
"""A parent is told by how many ids it lies before its child, 0: there is none."""


@dataclass(frozen=True, slots=True)
class Branch:
    """The messages of a branch, oldest first; of each, the question whose turn it belongs to, 0 before the first, and
    whether it belongs into the index."""

    conversation_id: UUID
    ids: npt.NDArray[np.int64]
    questions: npt.NDArray[np.int64]
    is_said: npt.NDArray[np.bool_]

    def lacks(self, found: Candidates) -> npt.NDArray[np.int64]:
        """The ids of those that are not in the index, or not by the present embedder."""
        known = found.ids[~np.isnan(found.likeness)]
        said = self.ids[self.is_said]
        return said[~are_among(said, known)] if known.size else said

    def turn_of(self, message_id: int) -> tuple[int, ...]:
        """The ids of the whole turn of one of the messages; of one before the first question, its own."""
        question = self.questions[np.searchsorted(self.ids, message_id)]
        return tuple(self.ids[self.questions == question].tolist()) if question else (message_id,)


def branch_of(conversation_id: UUID, head_id: int | None) -> Branch:
    """The branch that ends in `head_id`, as far back as is looked; empty if it is no message of the conversation."""
    with connection.cursor() as cursor:
        cursor.execute(BRANCH_SQL, [conversation_id, head_id or 0, MOST_MESSAGES])
        all_of_them, far, far_parents = cursor.fetchone()
    ids, facts = unpacked(all_of_them)
    steps, roles = facts >> 2, facts & 3
    parents = np.where(steps == 0, 0, ids - steps)
    parents[np.searchsorted(ids, numbers_of(far))] = numbers_of(far_parents)
    at = along_branch(ids, parents, head_id or 0)
    ids, roles = ids[at], roles[at]
    return Branch(conversation_id, ids, np.maximum.accumulate(ids * (roles == 1)), roles > 0)
