"""Earlier turns of a conversation that have to do with a question, and the index that finds them."""

from collections.abc import Collection, Sequence
from uuid import UUID

import structlog
from django.db import Error as DatabaseError
from django.db import connection

from conversations import history, index, meaning
from conversations.context.record import Recalled
from conversations.context.values import Recollection, StoredTurn
from conversations.models import Conversation, Message
from conversations.providers.errors import ProviderError
from conversations.recall.scores import Candidates

log = structlog.get_logger(__name__)

HITS = 8
"""Messages that are looked for; each brings its whole turn, as far as the budget reaches."""

LEAST_SCORE = 3.0
"""Of a hit: clearly better than most of the conversation, in standard deviations of words and of meaning together.

Of the messages that answer a question and are among the first eight, 100 % (LoCoMo), 98 % and 100 % (MADial-Bench,
English and Chinese) lie above it. "Thanks", "ok", "go on" and the like have 1.0 and 0.7 hits above it in place of eight
(MADial-Bench); where people say such things to each other all the time (LoCoMo) 6.8. At 3.5, 5 % of the answers were
lost."""

ON_DEMAND = 64
"""Messages that are put into the index while a program waits; the others wait for the task."""

BEFORE_A_REPLY = 16
"""While a person waits for a reply: a quarter of a second for the bundled embedder."""


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
        branch = index.branch_of(conversation_id, head_id)
        vector = meaning.if_at_hand(conversation_id, question)
        found = index.candidates(branch, question, vector)
        if completes_index and vector is not None and _wrote_missing(branch, found, without, most=BEFORE_A_REPLY):
            found = index.candidates(branch, question, vector)
        hits = index.ranked(found, most=HITS, without=without)
        return _turns(branch, [hit for hit in hits if hit.score >= LEAST_SCORE])
    except DatabaseError as error:
        if connection.in_atomic_block:
            raise  # Nothing more can be read in this transaction.
        log.warning("recall_failed", conversation=str(conversation_id), error=type(error).__name__)
        return ()


def _wrote_missing(branch: index.Branch, found: Candidates, without: Collection[int], *, most: int) -> bool:
    """Put the newest messages that the index lacks into it, without those that are sent anyway."""
    missing = [pk for pk in branch.lacks(found)[::-1].tolist() if pk not in without][:most]
    try:
        if not missing:
            return False
        seconds = meaning.QUESTION_SECONDS
        return write_missing(branch.conversation_id, ids=missing, most=most, seconds=seconds) > 0
    except ProviderError as error:
        log.warning("index_not_written", conversation=str(branch.conversation_id), code=error.code)
        return False


def recalled_before(conversation_id: UUID, recalled: Sequence[Recalled]) -> tuple[Recollection, ...]:
    """What an earlier request of the same turn was given, again: so the requests begin alike."""
    return _read(conversation_id, {one.ids: one.score for one in recalled})


def recall(conversation: Conversation, query: str, *, k: int) -> list[Recollection]:
    """The turns of the `k` messages of the active branch that match best, oldest first.

    Raises:
        ProviderError: the embedder did not answer.
    """
    branch = index.branch_of(conversation.pk, conversation.head_id)
    found = _turns(branch, best(branch, query, most=k))
    return sorted(found, key=lambda one: one.turn.ids)


def best(branch: index.Branch, query: str, *, most: int, without: Collection[int] = ()) -> list[index.Hit]:
    """The messages of the branch that match best, the best first; what the index lacks is put into it first, as far
    as there is time.

    Raises:
        ProviderError: the embedder did not answer.
    """
    vector = meaning.of_question(branch.conversation_id, query)
    found = index.candidates(branch, query, vector)
    if _wrote_missing(branch, found, without, most=ON_DEMAND):
        found = index.candidates(branch, query, vector)
    return index.ranked(found, most=most, without=without)


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


def write_missing(
    conversation_id: UUID, *, most: int, ids: Collection[int] | None = None, seconds: float = meaning.INDEX_SECONDS
) -> int:
    """Put up to so many messages of a conversation into the index, the newest of those it lacks (or of `ids`); returns
    how many.

    Raises:
        ProviderError: the embedder did not answer.
    """
    missing = index.unindexed(conversation_id)
    return index.write((missing if ids is None else missing.filter(pk__in=ids))[:most], seconds=seconds)


def write_all_missing(conversation_id: UUID) -> int:
    """The same with all there are, in batches: what was done stays done when it breaks off.

    Raises:
        ProviderError: the embedder did not answer.
    """
    total = 0
    while written := write_missing(conversation_id, most=index.BATCH):
        total += written
    return total
