"""Doors for the workers: ids in, one call, safe to run twice."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any
from uuid import UUID

import structlog
from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings
from django.db import Error as DatabaseError
from django.utils import timezone

from conversations import index, recollections, runs, summaries, sweeping, titles
from conversations.handing_over import enqueue, requeue
from conversations.models import Turn
from conversations.providers.errors import ProviderError
from conversations.replies import end_running_replies, replies
from conversations.retention import finishing, schedule
from conversations.retention import purge as purging
from conversations.streams import Shown, announce_end, is_reachable, shown
from conversations.transfer import making, tending
from conversations.transfer.incoming import running as importing

log = structlog.get_logger(__name__)

REPLIES = "replies"
"""The queue of questions."""

RENEWAL_SECONDS = 240
"""Of an hour: a hundred thousand messages or more, by one processor that others want, too."""


@shared_task(name="conversations.answer")
def answer(turn_id: str) -> None:
    """Answer a queued turn; for a turn that somebody else took, or that has ended, nothing happens."""
    replies().answer(UUID(turn_id))
    if settings.POCKETCHAT_RECALL:
        enqueue("index_turn", UUID(turn_id))
    ended = Turn.objects.filter(pk=turn_id, finished_at__isnull=False).values_list("conversation_id", flat=True)
    if conversation_id := ended.first():
        _write_about(conversation_id)


def _write_about(conversation_id: UUID) -> None:
    """Have done in the background what a turn makes due; one that was stopped is sent and left out as others are."""
    if titles.is_due(conversation_id):
        enqueue("name_conversation", conversation_id)
    if summaries.is_due(conversation_id):
        enqueue("roll_summary", conversation_id)


@shared_task(name="conversations.index_turn")
def index_turn(turn_id: str) -> None:
    """Have what an ended turn brought found again, with whatever else its conversation lacks in the index.

    An embedder that does not answer is left alone: the next turn, or the next recall, makes up for it.
    """
    for conversation_id in Turn.objects.filter(pk=turn_id).values_list("conversation", flat=True):
        try:
            recollections.write_all_missing(conversation_id)
        except ProviderError as error:
            log.warning("index_not_written", turn=turn_id, code=error.code)


@shared_task(name="conversations.renew_index")
def renew_index() -> None:
    """Put into the index again what an older version of the product put there, some minutes of every hour."""
    with recorded("renew_index") as did:
        did["renewed"], did["left"] = index.renew(seconds=RENEWAL_SECONDS), index.outdated().count()


@shared_task(name="conversations.name_conversation")
def name_conversation(conversation_id: str) -> None:
    """Have a model find a title that is due."""
    titles.name(UUID(conversation_id))


@shared_task(name="conversations.roll_summary")
def roll_summary(conversation_id: str) -> None:
    """Have a model continue the summary that is due."""
    summaries.roll(UUID(conversation_id))


@shared_task(name="conversations.suggest_title")
def suggest_title(conversation_id: str) -> None:
    """Have a model find a title because the owner wants one, whatever the conversation is called."""
    titles.suggest(UUID(conversation_id))


@shared_task(name="conversations.sweep")
def sweep() -> None:
    """End what lost workers left behind, and queue again what the queue lost."""
    with recorded("sweep") as did:
        # A Redis that hangs would cost a second for each turn, and the sweep is what its users wait for.
        has_redis = is_reachable()
        swept = sweeping.sweep(now=timezone.now(), shown=shown if has_redis else lambda _: Shown())
        did["interrupted"], did["failed"] = len(swept.interrupted), swept.failed
        for turn in swept.interrupted:
            log.warning("turn_interrupted", turn=str(turn.pk))
            if has_redis:
                announce_end(turn.pk, turn.Status.INTERRUPTED)
                if settings.POCKETCHAT_RECALL:
                    enqueue("index_turn", turn.pk)
        did["requeued"] = requeue(swept.waiting) if has_redis else 0


@shared_task(name="conversations.finish_erasures")
def finish_erasures() -> None:
    """Look at every erasure that is not settled, until all its stores are clean."""
    with recorded("finish_erasures") as did:
        finished = finishing.finish(now=timezone.now())
        did["looked_at"], did["failed"] = finished.looked_at, finished.failed


@shared_task(name=schedule.TASK)
def purge() -> None:
    """Delete what is over. A second one at the same time does nothing, and is no run: the first may hang for days."""
    if purging.is_running():
        log.info("purge_is_running")
        return
    with recorded(schedule.RUN) as did:
        try:
            purging.purge(now=timezone.now(), did=did, tell=schedule.tell_progress)
        finally:
            if did:  # Else it was another's.
                schedule.end_progress()


@contextmanager
def recorded(task: str) -> Iterator[dict[str, int]]:
    """Keep what a recurring task counts into the value, for the administrator to see, however it ends."""
    started_at, did, error = timezone.now(), dict[str, int](), ""
    try:
        yield did
    except Exception as fault:
        error = type(fault).__name__
        raise
    finally:
        with suppress(DatabaseError):  # The fault itself may be that the database is away.
            runs.record(task, started_at=started_at, finished_at=timezone.now(), did=did, error=error)


@shared_task(name="conversations.make_export")
def make_export(export_id: str) -> None:
    """Make everything of a person into a file, then the next one that waits for room."""
    making.make(UUID(export_id))
    _take_up_exports()


@shared_task(name="conversations.tend_exports")
def tend_exports() -> None:
    """Take up lost exports again, remove old ones, and whatever lies there for nobody."""
    with recorded("tend_exports") as did:
        did.update(asdict(tending.tend(tending.EXPORTS, now=timezone.now())))
        did["requeued"] = _take_up_exports()


def _take_up_exports() -> int:
    return sum(enqueue("make_export", export_id) for export_id in tending.due(tending.EXPORTS, now=timezone.now()))


@shared_task(name="conversations.run_import")
def run_import(import_id: str) -> None:
    """Bring a file in, have what it held found, then take up the next one that waits for room."""
    done = importing.run(UUID(import_id))
    if done and not done.is_dry_run and settings.POCKETCHAT_RECALL:
        enqueue("index_import", done.pk)
    _take_up_imports()


@shared_task(name="conversations.index_import")
def index_import(import_id: str) -> None:
    """Have what was brought in found; what is left out when an embedder fails, the next recall makes up for."""
    for conversation_id in importing.imported(UUID(import_id)):
        try:
            recollections.write_all_missing(conversation_id)
        except ProviderError as error:
            log.warning("index_not_written", id=import_id, code=error.code)
            return


@shared_task(name="conversations.tend_imports")
def tend_imports() -> None:
    """Take up lost imports again, forget old ones, and remove whatever lies there for nobody."""
    with recorded("tend_imports") as did:
        did.update(asdict(tending.tend(tending.IMPORTS, now=timezone.now())))
        did["requeued"] = _take_up_imports()


def _take_up_imports() -> int:
    return sum(enqueue("run_import", import_id) for import_id in tending.due(tending.IMPORTS, now=timezone.now()))


@worker_ready.connect
def prepare_replies(sender: Any, **_: Any) -> None:
    """A worker that will answer loads the models' clients before the first question, not with it."""
    if REPLIES in sender.app.amqp.queues.consume_from:
        replies().warm_up()


@worker_shutting_down.connect
def end_replies(**_: Any) -> None:
    """A worker that is asked to stop ends its replies itself: their words are kept, and nobody waits for the sweep."""
    end_running_replies()
