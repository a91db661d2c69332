"""What pages, the API and tasks hand to the workers, and what viewers are told at once.

A task is named, not imported: whoever hands something over needs nothing of what is done with it.
"""

from concurrent.futures import Future
from threading import Thread
from typing import Literal
from uuid import UUID

import structlog
from celery import current_app
from django.utils import timezone

from accounts.models import User
from conversations import asking, turns
from conversations.models import Turn
from conversations.retention.versions import erase_version
from conversations.streams import BRIEFLY, announce_end, may_requeue

log = structlog.get_logger(__name__)

Task = Literal[
    "answer",
    "index_turn",
    "name_conversation",
    "suggest_title",
    "roll_summary",
    "finish_erasures",
    "make_export",
    "run_import",
    "index_import",
    "purge",
]
"""Of `conversations.tasks`, those that somebody hands over."""


def requeue(waiting: list[UUID]) -> int:
    """Hand turns to the queue again that have waited long; returns how many."""
    count = 0
    for turn_id in filter(may_requeue, waiting):
        if not enqueue_answer(turn_id):
            break
        count += 1
    return count


def enqueue_answer(turn_id: UUID) -> bool:
    """Hand a stored question to the workers, within a second; False: the sweep does it later, nothing is lost."""
    return enqueue("answer", turn_id)


def enqueue_title(conversation_id: UUID) -> bool:
    """Have a title found because the owner asks for one; False: it will not be."""
    return enqueue("suggest_title", conversation_id)


def enqueue_finishing() -> bool:
    """Have erasures that were begun finished now; False: it is done with the next round."""
    return enqueue("finish_erasures")


def enqueue_export(export_id: UUID) -> bool:
    """Hand an export to the workers; False: it is taken up later, nothing is lost."""
    return enqueue("make_export", export_id)


def enqueue_purge() -> bool:
    """Have what is over deleted now; False: it will be when it is planned."""
    return enqueue("purge")


def enqueue_import(import_id: UUID) -> bool:
    """Hand a file to the workers; False: it is taken up later, nothing is lost."""
    return enqueue("run_import", import_id)


def take_on(asked: asking.Asked) -> asking.Asked:
    """Hand a new question to the workers; the viewers of the reply that made way for it learn of its end."""
    for stopped in Turn.objects.filter(pk=asked.stopped) if asked.stopped else ():
        turns.announce(stopped, Turn.Status.STOPPED)
    if asked.is_new:
        enqueue_answer(asked.turn.pk)
    return asked


def remove_version(conversation_id: UUID, message_id: int, *, by: User) -> int:
    """Delete a version for good; returns the head. The viewers of a reply that went with it learn of its end.

    Raises:
        Http404, NoOtherVersion, Held
    """
    return erase_version(conversation_id, message_id, by=by, now=timezone.now()).head_id


def stop_turn(turn: Turn) -> None:
    """End a reply: at once when it has not begun, within a second by its worker otherwise."""
    if turns.request_stop(turn):
        announce_end(turn.pk, turn.Status.STOPPED)


def enqueue(task: Task, *row_ids: UUID) -> bool:
    """Have a worker do it, within a second; False: the queue did not take it."""
    # Celery waits for a Redis that hangs for as long as Redis likes. What it waits for goes on without us: should the
    # task come through after all, it finds its turn or finds it taken.
    queueing = _queue(task, *map(str, row_ids))
    try:
        queueing.result(timeout=BRIEFLY)
    except Exception as error:  # noqa: BLE001  # whatever the queue's client raises, what is stored stays as it is
        ids = [*map(str, row_ids)]
        log.warning("task_not_queued", task=f"conversations.{task}", ids=ids, error=type(error).__name__)
        return False
    return True


def _queue(task: Task, *arguments: str) -> "Future[None]":
    """In a thread of its own, which ends with the process."""
    queueing: Future[None] = Future()

    def queue() -> None:
        try:
            current_app.send_task(f"conversations.{task}", arguments, retry=False)
        except Exception as error:  # noqa: BLE001  # told to whoever waits, who would wait in vain otherwise
            queueing.set_exception(error)
        else:
            queueing.set_result(None)

    Thread(target=queue, name="queueing", daemon=True).start()
    return queueing
