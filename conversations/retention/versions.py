"""A version of a question or of a reply takes the same road: its rows, and all that carries the ids of its turns."""

from collections import Counter
from datetime import datetime
from uuid import UUID

from django.db import transaction

from accounts.models import User
from conversations import branches, tree
from conversations.branches import Removed
from conversations.models import Erasure
from conversations.retention import looks, rows
from conversations.retention.holds import refuse_when_held
from conversations.retention.ids import Ids
from conversations.retention.manifest import QUICK
from conversations.transfer.stores import EXPORTS


def erase_version(conversation_id: UUID, message_id: int, *, by: User | None, now: datetime) -> Removed:
    """Delete a version with everything below it, for good; its receipt names the turns that went.

    Raises:
        Http404, NoOtherVersion, Held
    """
    with transaction.atomic():
        tree.locked(conversation_id)
        refuse_when_held([conversation_id])
        turns, counts = rows.turns_of([conversation_id]), Counter(rows.counted([conversation_id]))
        removed = branches.remove(conversation_id, message_id)
        erasure = Erasure.objects.create(
            reason=Erasure.Reason.VERSION,
            by=by.pk if by else None,
            turns=sorted({*turns} - {*rows.turns_of([conversation_id])}),
            counts=counts - Counter(rows.counted([conversation_id])),
            began_at=now,
            erased_at=now,
            next_look_at=now,
        )
    looks.follow(erasure, QUICK, live=[removed.stopped] if removed.stopped else [])
    # A file that holds the conversation holds the version; its owner has another one made.
    EXPORTS.erase(Ids(conversations=frozenset([conversation_id])))
    return removed
