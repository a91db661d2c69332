"""Tokens by which programs act for a person: shown once, stored as a hash, expiring, taken back at any time."""

from datetime import timedelta

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from django.utils import timezone
from knox.models import AuthToken

from accounts.models import User

LIVES = {"30": timedelta(days=30), "90": timedelta(days=90), "365": timedelta(days=365), "never": None}
"""Days after which a token expires, as a form sends them; `never`: it lives until it is taken back."""


def tokens_of(user: User) -> "QuerySet[AuthToken]":
    """Newest first, each with `is_expired`: such a one is refused, and stays in the list until another is used."""
    is_expired = ExpressionWrapper(Q(expiry__lt=timezone.now()), output_field=BooleanField())
    found: QuerySet[AuthToken] = AuthToken.objects.filter(user=user).annotate(is_expired=is_expired)
    return found.order_by("-created")


def issue(user: User, *, life: timedelta | None) -> str:
    """Make a token; what is returned is seen this once, only its hash is kept."""
    _, token = AuthToken.objects.create(user=user, expiry=life)
    return str(token)


def revoke(user: User, token_key: str) -> bool:
    """Take a token back by its visible beginning; False: there is none."""
    deleted, _ = tokens_of(user).filter(token_key=token_key).delete()
    return deleted > 0
