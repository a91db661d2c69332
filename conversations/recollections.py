"""Earlier turns of a conversation that have to do with a question, and the index that finds them."""

from collections.abc import Collection, Sequence
from uuid import UUID

import structlog
from django.db import Error as DatabaseError
from django.db import connection

from conversations import history, index, meaning, pauses
from conversations.context.record import Recalled
from conversations.context.values import Recollection, StoredTurn
from conversations.models import Conversation, Message
from conversations.providers.errors import ProviderError
from conversations.providers.registry import embedder
from conversations.providers.values import Embedder
from conversations.text import is_blank

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

MOST_MISSING = 500
"""Messages among which those are sought: the index may have, without a vector, what it seems to lack."""

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
    if is_blank(question):
        return ()
    try:
        branch = index.branch_of(conversation_id, head_id)
        vector = meaning.if_at_hand(conversation_id, question)
        completes = BEFORE_A_REPLY if completes_index else 0
        hits = best(branch, question, vector, most=HITS, without=without, completes=completes)
        return _turns(branch, [hit for hit in hits if hit.score >= LEAST_SCORE])
    except DatabaseError as error:
        if connection.in_atomic_block:
            raise  # Nothing more can be read in this transaction.
        log.warning("recall_failed", conversation=str(conversation_id), error=type(error).__name__)
        return ()


def best(
    branch: index.Branch,
    question: str,
    vector: meaning.Vector | None,
    *,
    most: int,
    without: Collection[int] = (),
    completes: int = 0,
    model: Embedder | None = None,
) -> list[index.Hit]:
    """The messages of the branch that match best, the best first, by their words alone without a `vector`.

    Up to `completes` of those that the index lacks are put into it first, as far as there is time.
    """
    found = index.candidates(branch, question, vector, model=model)
    if completes and vector is not None:
        missing = [pk for pk in branch.lacks(found)[::-1].tolist() if pk not in without]
        if missing and _wrote(branch.conversation_id, missing, model or embedder(), most=completes):
            found = index.candidates(branch, question, vector, model=model)
    return index.ranked(found, most=most, without=without)


def _wrote(conversation_id: UUID, ids: Sequence[int], model: Embedder, *, most: int) -> bool:
    """False: nothing, for instance because nobody waits for an embedder that failed a moment ago, nor for a provider in
    a transaction."""
    if pauses.is_paused(model, "index") or (model.is_remote and connection.in_atomic_block):
        return False
    missing = index.unindexed(conversation_id, model=model).filter(pk__in=ids[:MOST_MISSING])[:most]
    try:
        return index.write(missing, seconds=meaning.QUESTION_SECONDS, model=model, is_hasty=True) > 0
    except ProviderError as error:
        pauses.pause_after(error, model, "index")
        log.warning("index_not_written", conversation=str(conversation_id), code=error.code)
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
    vector = meaning.of_question(conversation.pk, query)
    found = _turns(branch, best(branch, query, vector, most=k, completes=ON_DEMAND))
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


def write_all_missing(conversation_id: UUID) -> int:
    """Put all messages of a conversation into the index that it lacks, the newest first; returns how many.

    In batches: what was done stays done when it breaks off.

    Raises:
        ProviderError: the embedder did not answer.
    """
    total = 0
    while written := index.write(index.unindexed(conversation_id)[: index.BATCH]):
        total += written
    return total
