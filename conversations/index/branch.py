"""The messages among which is looked: those of one branch, and how they hang together."""

from dataclasses import dataclass
from uuid import UUID

import numpy as np
import numpy.typing as npt

from conversations.index.packed import are_among
from conversations.index.tree import USER, branch_in
from conversations.models import Message
from conversations.recall.scores import Candidates

INDEXED_ROLES = (Message.Role.USER, Message.Role.ASSISTANT)


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
    branch = branch_in(conversation_id, head_id or 0)
    questions = np.maximum.accumulate(branch.ids * (branch.roles == USER))
    return Branch(conversation_id, branch.ids, questions, branch.roles > 0)
