"""What the templates of every account page may ask."""

from django.conf import settings
from django.http import HttpRequest

PRINTED = "django.core.mail.backends.console.EmailBackend"


def mail(request: HttpRequest) -> dict[str, object]:  # noqa: ARG001  # a context processor's signature
    """Whether mails end in the terminal: whoever waits for one should know where to look."""
    return {"mail_is_printed": settings.EMAIL_BACKEND == PRINTED}
