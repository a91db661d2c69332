"""The memory of a conversation: earlier turns that have to do with a question, and the index that finds them."""

from collections.abc import Collection, Sequence
from uuid import UUID

import structlog
from django.db import Error as DatabaseError
from django.db import connection

from conversations import history, index
from conversations.context.record import Recalled
from conversations.context.values import Recollection, StoredTurn
from conversations.models import Conversation, Message
from conversations.providers.errors import ProviderError

log = structlog.get_logger(__name__)

HITS = 8
"""Messages that are looked for; each brings its whole turn, as far as the budget reaches."""

LEAST_SCORE = 1.0
"""Of a hit: clearly better than most of the conversation. Without it "thanks" would bring back eight turns."""

ON_DEMAND = 64
"""Messages that are put into the index while a question waits; the others wait for the task."""


def recollections(
    conversation_id: UUID,
    head_id: int | None,
    question: str,
    *,
    without: Collection[int] = (),
    completes_index: bool = False,
) -> tuple[Recollection, ...]:
    """The turns of the branch that ends in `head_id` which have to do with `question`, the best match first.

    Messages `without` are not looked for. `completes_index`: what it lacks is put into it first, as far as there is
    time; not in a transaction. An embedder or a database that fails costs a reply its recollections and nothing else.
    """
    if not question.strip():
        return ()
    try:
        if completes_index:
            write_missing(conversation_id, most=ON_DEMAND)
        branch = index.branch_of(conversation_id, head_id)
        hits = index.ranked(index.candidates(branch, question), most=HITS, without=without)
        return _turns(branch, [hit for hit in hits if hit.score >= LEAST_SCORE])
    except (ProviderError, DatabaseError) as error:
        if isinstance(error, DatabaseError) and connection.in_atomic_block:
            raise  # Nothing more can be read in this transaction.
        log.warning("recall_failed", conversation=str(conversation_id), error=type(error).__name__)
        return ()


def recalled_before(conversation_id: UUID, recalled: Sequence[Recalled]) -> tuple[Recollection, ...]:
    """What an earlier request of the same turn was given, again: so the requests begin alike."""
    return _read(conversation_id, {one.ids: one.score for one in recalled})


def recall(conversation: Conversation, query: str, *, k: int) -> list[Recollection]:
    """The turns of the `k` messages of the active branch that match best, oldest first.

    Raises:
        ProviderError: the embedder did not answer.
    """
    write_missing(conversation.pk, most=ON_DEMAND)
    branch = index.branch_of(conversation.pk, conversation.head_id)
    found = _turns(branch, index.ranked(index.candidates(branch, query), most=k))
    return sorted(found, key=lambda one: one.turn.ids)


def _turns(branch: index.Branch, hits: Sequence[index.Hit]) -> tuple[Recollection, ...]:
    """The turn of each hit, once, with the score of its best, in the order of the hits."""
    scores: dict[tuple[int, ...], float] = {}
    for hit in hits:
        scores.setdefault(branch.turn_of(hit.message_id), hit.score)
    return _read(branch.conversation_id, scores)


def _read(conversation_id: UUID, scores: dict[tuple[int, ...], float]) -> tuple[Recollection, ...]:
    """One query, whatever the number of turns; none for none."""
    if not scores:
        return ()
    rows = Message.objects.filter(conversation=conversation_id).in_bulk([pk for ids in scores for pk in ids])
    turns = [
        (StoredTurn(tuple(history.stored(rows[pk]) for pk in ids if pk in rows)), score)
        for ids, score in scores.items()
    ]
    return tuple(Recollection(turn, score) for turn, score in turns if turn.messages)


def write_missing(conversation_id: UUID, *, most: int) -> int:
    """Put up to so many messages of a conversation into the index, the newest of those it lacks; returns how many.

    Raises:
        ProviderError: the embedder did not answer.
    """
    return index.write(index.unindexed(conversation_id)[:most])


def write_all_missing(conversation_id: UUID) -> int:
    """The same with all there are, in batches: what was done stays done when it breaks off.

    Raises:
        ProviderError: the embedder did not answer.
    """
    total = 0
    while written := write_missing(conversation_id, most=index.BATCH):
        total += written
    return total
