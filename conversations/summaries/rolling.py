"""When a summary is written anew, and how."""

from uuid import UUID

from django.conf import settings


def is_due(conversation_id: UUID) -> bool:  # noqa: ARG001
    """Whether a summary is to be written or continued now."""
    return bool(settings.POCKETCHAT_SUMMARIES) and False


def roll(conversation_id: UUID) -> bool:  # noqa: ARG001
    """Continue the summary; False: it stays as it is."""
    return False
