"""Doors for the workers: ids in, one call, safe to run twice."""

from concurrent.futures import Future
from threading import Thread
from typing import Any
from uuid import UUID

import structlog
from celery import shared_task
from celery.signals import worker_shutting_down
from django.utils import timezone
from kombu.exceptions import OperationalError

from conversations import branches, turns
from conversations.models import Turn
from conversations.replies import end_running_replies, replies
from conversations.streams import BRIEFLY, Shown, announce_end, is_reachable, shown

log = structlog.get_logger(__name__)


@shared_task(name="conversations.answer")
def answer(turn_id: str) -> None:
    """Answer a queued turn; for a turn that somebody else took, or that has ended, nothing happens."""
    replies().answer(UUID(turn_id))


@shared_task(name="conversations.sweep")
def sweep() -> None:
    """End what lost workers left behind, and queue again what the queue lost."""
    # A Redis that hangs would cost a second for each turn, and the sweep is what its users wait for.
    has_redis = is_reachable()
    swept = turns.sweep(now=timezone.now(), shown=shown if has_redis else lambda _: Shown())
    for turn in swept.interrupted:
        log.warning("turn_interrupted", turn=str(turn.pk))
        if has_redis:
            announce_end(turn.pk, turn.Status.INTERRUPTED)
    for turn_id in swept.waiting:
        if not enqueue_answer(turn_id):
            break


def enqueue_answer(turn_id: UUID) -> bool:
    """Hand a stored question to the workers, within a second; False: the sweep does it later, nothing is lost."""
    # Celery waits for a Redis that hangs for as long as Redis likes. What it waits for goes on without us: should the
    # task come through after all, it finds its turn or finds it taken.
    queueing = _queue(turn_id)
    try:
        queueing.result(timeout=BRIEFLY)
    except (OperationalError, TimeoutError) as error:
        log.warning("answer_not_queued", turn=str(turn_id), error=type(error).__name__)
        return False
    return True


def _queue(turn_id: UUID) -> "Future[None]":
    """In a thread of its own, which ends with the process."""
    queueing: Future[None] = Future()

    def queue() -> None:
        try:
            answer.apply_async((str(turn_id),), retry=False)
        except OperationalError as error:
            queueing.set_exception(error)
        else:
            queueing.set_result(None)

    Thread(target=queue, name="queueing", daemon=True).start()
    return queueing


@worker_shutting_down.connect
def end_replies(**_: Any) -> None:
    """A worker that is asked to stop ends its replies itself: their words are kept, and nobody waits for the sweep."""
    end_running_replies()


def take_on(asked: turns.Asked) -> turns.Asked:
    """Hand a new question to the workers; the viewers of the reply that made way for it learn of its end."""
    if asked.stopped:
        announce_end(asked.stopped, Turn.Status.STOPPED)
    if asked.is_new:
        enqueue_answer(asked.turn.pk)
    return asked


def remove_version(conversation_id: UUID, message_id: int) -> int:
    """Delete a version for good; returns the head. The viewers of a reply that went with it learn of its end."""
    removed = branches.remove(conversation_id, message_id)
    if removed.stopped:
        announce_end(removed.stopped, Turn.Status.STOPPED)
    return removed.head_id


def stop_turn(turn: Turn) -> None:
    """End a reply: at once when it has not begun, within a second by its worker otherwise."""
    if turns.request_stop(turn):
        announce_end(turn.pk, turn.Status.STOPPED)
