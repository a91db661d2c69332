"""What is kept of an account itself, for its owner to take away; no secret is in it."""

from typing import Any

from allauth.account.models import EmailAddress

from accounts.models import User
from accounts.tokens import tokens_of


def profile_of(user: User) -> dict[str, Any]:
    """Values as Python has them. A password is kept as a hash alone, and so is a token: neither is told."""
    addresses = EmailAddress.objects.filter(user=user).order_by("pk")
    return {
        "email": user.email,
        "date_joined": user.date_joined,
        "last_login": user.last_login,
        "is_staff": user.is_staff,
        "email_addresses": list(addresses.values("email", "verified", "primary")),
        "api_tokens": [
            {"begins_with": token.token_key, "created": token.created, "expiry": token.expiry}
            for token in tokens_of(user)
        ],
    }
