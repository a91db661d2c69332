"""What no longer opens anything, and is still there: sessions and tokens past their end."""

from datetime import datetime
from typing import Any

from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from knox.models import AuthToken

AT_ONCE = 1000
"""Rows deleted in one statement at most."""


def remove_expired(now: datetime) -> dict[str, int]:
    """How many sessions and tokens went."""
    return {
        "sessions": _removed(Session.objects.filter(expire_date__lt=now)),
        "tokens": _removed(AuthToken.objects.filter(expiry__lt=now)),
    }


def _removed(rows: "QuerySet[Any]") -> int:
    count = 0
    while ids := list(rows.values_list("pk", flat=True)[:AT_ONCE]):
        count += rows.filter(pk__in=ids).delete()[0]
    return count
