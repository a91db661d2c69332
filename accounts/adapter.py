"""What sign-up means here: who may, and who becomes the administrator."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.db import connection, transaction
from django.http import HttpRequest

from accounts.models import User

if TYPE_CHECKING:
    from allauth.account.models import EmailConfirmation
    from django.forms import Form

FIRST_ACCOUNT_LOCK = 20_260_001
"""An advisory lock of our own; held while the first account is decided."""


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    """allauth's rules, with ours where they differ."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:  # noqa: ARG002  # allauth's signature
        return bool(settings.POCKETCHAT_OPEN_SIGNUP)

    def get_reset_password_from_key_url(self, key: str) -> str:
        return _at_public_address(super().get_reset_password_from_key_url(key))

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: "EmailConfirmation") -> str:
        return _at_public_address(super().get_email_confirmation_url(request, emailconfirmation))

    def save_user(self, request: HttpRequest, user: User, form: "Form", commit: bool = True) -> User:
        """Save the new account; on an embedded installation the first one is the administrator."""
        with transaction.atomic():
            if settings.POCKETCHAT_EMBEDDED_DATABASE:
                _make_first_account_administrator(user)
            super().save_user(request, user, form, commit)
        return user


def _at_public_address(url: str) -> str:
    """A link in a mail leads where the installation says it stands, not where a request claimed to have come from."""
    parts = urlsplit(url)
    return str(settings.POCKETCHAT_URL) + parts._replace(scheme="", netloc="").geturl()


def _make_first_account_administrator(user: User) -> None:
    """Two people who sign up together wait for each other here, so that only one of them is first."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [FIRST_ACCOUNT_LOCK])
    if not User.objects.exists():
        user.is_staff = user.is_superuser = True
