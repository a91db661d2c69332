"""After a backup was restored: what receipts say was erased is erased again, with receipts of its own."""

from collections.abc import Iterable
from datetime import datetime

from accounts.models import User
from conversations.models import Erasure, Turn
from conversations.retention import closing, looks, rows
from conversations.retention.erase import Cause, Reason, erased
from conversations.retention.ids import Ids
from conversations.retention.manifest import QUICK
from conversations.retention.receipts import Kept


def replay(kept: Iterable[Kept], *, now: datetime) -> list[Erasure]:
    """The receipts of what had come back. Safe to run twice.

    Accounts are known by numbers that a restored database gives away again: one that was made after the erasure began
    is somebody else's.

    Raises:
        Held, OperationalError: as `erase_conversations`; what came before is done.
    """
    cause = Cause(Reason.REPLAY, None, now)
    made: list[Erasure] = []
    for one in kept:
        made += erased(one.ids.conversations, cause)
        made += _turns(one.ids, cause)
        made += _accounts(one, cause)
    return made


def _turns(ids: Ids, cause: Cause) -> list[Erasure]:
    """Those of versions that were deleted out of conversations which stayed."""
    there = list(Turn.objects.filter(pk__in=ids.turns).values_list("pk", flat=True))
    if not there:
        return []
    gone = rows.delete_turns(there)
    erasure = cause.receipt(turns=sorted(gone), counts={"turn": len(gone)})
    erasure.save(force_insert=True)
    looks.follow(erasure, QUICK, live=gone)
    return [erasure]


def _accounts(kept: Kept, cause: Cause) -> list[Erasure]:
    back = User.objects.filter(pk__in=kept.ids.accounts, date_joined__lt=kept.began_at)
    made = []
    for user in back:
        erasure = cause.receipt(accounts=[user.pk], erased_at=None)
        erasure.save(force_insert=True)
        closing.resumed(erasure, now=cause.now, is_told=False)
        made.append(erasure)
    return made
