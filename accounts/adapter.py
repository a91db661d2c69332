"""What sign-up means here: who may, and who becomes the administrator."""

from typing import TYPE_CHECKING

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.db import connection, transaction
from django.http import HttpRequest

from accounts.models import User

if TYPE_CHECKING:
    from django.forms import Form

FIRST_ACCOUNT_LOCK = 20_260_001
"""An advisory lock of our own; held while the first account is decided."""


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    """allauth's rules, with ours where they differ."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:  # noqa: ARG002  # allauth's signature
        return bool(settings.POCKETCHAT_OPEN_SIGNUP)

    def save_user(self, request: HttpRequest, user: User, form: "Form", commit: bool = True) -> User:
        """Save the new account; on an embedded installation the first one is the administrator."""
        with transaction.atomic():
            if settings.POCKETCHAT_EMBEDDED_DATABASE:
                _make_first_account_administrator(user)
            super().save_user(request, user, form, commit)
        return user


def _make_first_account_administrator(user: User) -> None:
    """Two people who sign up together wait for each other here, so that only one of them is first."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [FIRST_ACCOUNT_LOCK])
    if not User.objects.exists():
        user.is_staff = user.is_superuser = True
