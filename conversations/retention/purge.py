"""Delete what is over: in batches, in short transactions, one purge at a time, and from where the last one ended.

Nothing is remembered between batches but what could not be deleted: what is over is asked for anew, by the question
that the preview asks. So a purge that was killed is resumed by the next one.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from uuid import UUID

import structlog
from django.db import connection, transaction

from accounts.leftovers import remove_expired
from conversations.database import AWAY
from conversations.expiry import Kind
from conversations.models import Conversation
from conversations.retention import log_lines
from conversations.retention.due import taken, traces_due
from conversations.retention.erase import Reason, erase_conversations
from conversations.retention.lives import installation

log = structlog.get_logger(__name__)

BATCH = 100
"""Conversations of one batch."""
TRACES = 5000
"""Traces deleted in one statement."""
ONE_AT_A_TIME = 0x70757267
"""Names the advisory lock of PostgreSQL that a purge holds; it goes with the connection of a process that is killed."""

REASONS = {Kind.IDLE: Reason.RULE, Kind.AGE: Reason.RULE, Kind.TEMPORARY: Reason.RULE, Kind.BIN: Reason.BIN}

Told = Callable[[dict[str, int]], object]


def purge(*, now: datetime, did: dict[str, int], tell: Told = lambda _: None, batch: int = BATCH) -> bool:
    """Delete all that is over at `now`; False: another worker is at it.

    What was done is counted into `did`, as it is done, and told after each batch; `failed` counts conversations that
    could not be deleted, which keep no other from it.
    """
    with _alone() as is_alone:
        if is_alone:
            _delete_conversations(now, did, tell, batch)
            _delete_traces(now, did, tell)
            did.update(remove_expired(now))
            did["log_lines"] = _aged_out(now)
    return is_alone


def _delete_conversations(now: datetime, did: dict[str, int], tell: Told, batch: int) -> None:
    did |= {"conversations": 0, "failed": 0}
    left: set[UUID] = set()
    for kind in Kind:
        while ids := _next(kind, now, without=left, most=batch):
            left |= _erased_but(ids, kind, now)
            did["conversations"] += len(set(ids) - left)
            did["failed"] = len(left)
            tell(did)


def _next(kind: Kind, now: datetime, *, without: set[UUID], most: int) -> list[UUID]:
    """Some that are over, but for those in which somebody is writing at this moment: the next purge finds them."""
    with transaction.atomic():
        return taken(kind, now, without=without, most=most)


def _erased_but(ids: list[UUID], kind: Kind, now: datetime) -> set[UUID]:
    """Erase them together; if that fails, each by itself. Returns those that are still there."""
    try:
        erase_conversations(ids, reason=REASONS[kind], by=None, now=now)
    except Exception as error:  # noqa: BLE001  # whatever is wrong with one, those beside it must go
        log.warning("batch_not_erased", count=len(ids), error=type(error).__name__)
        for pk in ids if len(ids) > 1 else ():
            _erased_but([pk], kind, now)
    return set(Conversation.objects.filter(pk__in=ids).values_list("pk", flat=True))


def _delete_traces(now: datetime, did: dict[str, int], tell: Told) -> None:
    did["traces"] = 0
    while ids := list(traces_due(now).values_list("pk", flat=True)[:TRACES]):
        did["traces"] += traces_due(now).filter(pk__in=ids).delete()[0]
        tell(did)


def _aged_out(now: datetime) -> int:
    """Lines of this machine's log files past their life."""
    days = installation().log_days
    return log_lines.age_out(days, now=now) if days else 0


def is_running() -> bool:
    """Whether a purge is at it at this moment, here or elsewhere; one that hangs is, too."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND database = "
            "(SELECT oid FROM pg_database WHERE datname = current_database()))",
            [ONE_AT_A_TIME],
        )
        return bool(cursor.fetchone()[0])


@contextmanager
def _alone() -> Iterator[bool]:
    """Whether this is the only purge."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [ONE_AT_A_TIME])
        (is_alone,) = cursor.fetchone()
    try:
        yield is_alone
    finally:
        if is_alone:
            _let_others()


def _let_others() -> None:
    """A connection that broke has let them already."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [ONE_AT_A_TIME])
    except AWAY:
        log.info("purge_lock_gone")
