"""Doors for the workers: ids in, one call, safe to run twice."""

from typing import Any
from uuid import UUID

import structlog
from celery import shared_task
from celery.signals import worker_shutting_down
from django.utils import timezone
from kombu.exceptions import OperationalError

from conversations import turns
from conversations.models import Turn
from conversations.replies import end_running_replies, replies
from conversations.streams import announce_end, is_reachable, shown

log = structlog.get_logger(__name__)


@shared_task(name="conversations.answer")
def answer(turn_id: str) -> None:
    """Answer a queued turn; for a turn that somebody else took, or that has ended, nothing happens."""
    replies().answer(UUID(turn_id))


@shared_task(name="conversations.sweep")
def sweep() -> None:
    """End what lost workers left behind, and queue again what the queue lost."""
    swept = turns.sweep(now=timezone.now(), shown=shown)
    for turn in swept.interrupted:
        log.warning("turn_interrupted", turn=str(turn.pk))
        announce_end(turn.pk, turn.Status.INTERRUPTED)
    for turn_id in swept.waiting:
        enqueue_answer(turn_id)


def enqueue_answer(turn_id: UUID) -> None:
    """Hand a stored question to the workers. When the queue is away the sweep does it later: nothing is lost."""
    # Celery's connection waits for a Redis that hangs as long as Redis likes, and the sender with it.
    if not is_reachable():
        log.warning("answer_not_queued", turn=str(turn_id), error="unreachable")
        return
    try:
        answer.apply_async((str(turn_id),), retry=False)
    except OperationalError as error:
        log.warning("answer_not_queued", turn=str(turn_id), error=type(error).__name__)


@worker_shutting_down.connect
def end_replies(**_: Any) -> None:
    """A worker that is asked to stop ends its replies itself: their words are kept, and nobody waits for the sweep."""
    end_running_replies()


def stop_turn(turn: Turn) -> None:
    """End a reply: at once when it has not begun, within a second by its worker otherwise."""
    if turns.request_stop(turn):
        announce_end(turn.pk, turn.Status.STOPPED)
