"""Where the purge hands over what is to be erased."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db import connection, transaction

from conversations.expiry import Kind
from conversations.models import Conversation

LOCK_SECONDS = 3


def erase(ids: Collection[UUID], *, kind: Kind, now: datetime) -> None:  # noqa: ARG001  # what the receipt tells
    """Erase them for good; those that somebody else has erased meanwhile are gone, too.

    Raises:
        Held, OperationalError: nothing of the batch that met it was erased.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
        Conversation.objects.filter(pk__in=ids).delete()
