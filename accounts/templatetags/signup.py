"""For pages: who may make an account."""

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def signup_is_open() -> bool:
    """Whether strangers may make accounts."""
    return bool(settings.POCKETCHAT_OPEN_SIGNUP)
