"""What stands above an exported conversation."""

from datetime import datetime

from conversations.models import Conversation
from conversations.transfer.spoken import moment


def title_of(conversation: Conversation) -> str:
    return conversation.title or "New conversation"


def about(now: datetime) -> str:
    """When the file was made, and what is not in it."""
    return (
        f"Exported from PocketChat on {moment(now)}. Of messages with several versions this has the ones that were "
        "open; the others, and what models thought, are in the JSON."
    )
