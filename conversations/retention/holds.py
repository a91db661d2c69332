"""Legal holds: what is held is erased by nobody, neither by its owner nor by a rule."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db import transaction

from accounts.models import User
from conversations.models import Conversation, Hold, RetentionChange
from conversations.refusals import Held


def held(conversation_ids: Collection[UUID]) -> set[UUID]:
    """Those of the conversations that are held, themselves or with their owner. One query."""
    return Hold.objects.on_conversations(conversation_ids)


def is_held(user: User) -> bool:
    """Whether everything of this person is held: their account cannot be closed, either."""
    return Hold.objects.lasting().filter(user=user).exists()


def refuse_when_held(conversation_ids: Collection[UUID]) -> None:
    """Raises `Held` when any of the conversations is held."""
    if found := held(conversation_ids):
        raise Held(found)


def place(
    *, reason: str, by: User | None, now: datetime, user: User | None = None, conversation: Conversation | None = None
) -> Hold:
    """On a user or on a conversation."""
    with transaction.atomic():
        hold: Hold = Hold.objects.create(user=user, conversation=conversation, reason=reason, placed_by=by, since=now)
        _record(RetentionChange.What.HOLD_PLACED, hold, by, now)
    return hold


def lift(hold: Hold, *, by: User | None, now: datetime) -> bool:
    """What it held may be erased again; False: somebody lifted it first."""
    with transaction.atomic():
        is_lifted: bool = Hold.objects.lasting().filter(pk=hold.pk).update(lifted_at=now, lifted_by=by) == 1
        if is_lifted:
            _record(RetentionChange.What.HOLD_LIFTED, hold, by, now)
    return is_lifted


def _record(what: RetentionChange.What, hold: Hold, by: User | None, now: datetime) -> None:
    RetentionChange.objects.create(
        what=what, at=now, by=by, user=hold.user, conversation_id=hold.conversation_id, after={"hold": hold.pk}
    )
