"""What an owner decides for one conversation: begun as a temporary one, or kept from the rules."""

from accounts.models import User
from conversations.models import Conversation
from conversations.refusals import KeepingNotAllowed, NoTemporaryOnes
from conversations.retention.lives import life_of


def check_temporary(user: User) -> None:
    """Raises `NoTemporaryOnes` where no rule gives temporary conversations a life."""
    if life_of(user).temporary is None:
        raise NoTemporaryOnes


def keep(conversation: Conversation, *, on: bool) -> None:
    """Spare it from the rules, or no longer; one that is kept is no longer temporary.

    Raises:
        KeepingNotAllowed
    """
    if on and not conversation.may_be_kept:
        raise KeepingNotAllowed
    conversation.kept = on
    conversation.temporary = conversation.temporary and not on
    conversation.save(update_fields=["kept", "temporary"])
    conversation.forget_end()
