"""For pages: who may make an account."""

from django import template
from django.conf import settings

from accounts.models import User

register = template.Library()


@register.simple_tag
def signup_is_open() -> bool:
    """Whether strangers may make accounts."""
    return bool(settings.POCKETCHAT_OPEN_SIGNUP)


@register.simple_tag
def nobody_has_an_account() -> bool:
    """Whether this installation waits for its first person."""
    return not User.objects.exists()


@register.simple_tag
def first_account_is_administrator() -> bool:
    """As the adapter decides when it saves one."""
    return bool(settings.POCKETCHAT_EMBEDDED_DATABASE)
