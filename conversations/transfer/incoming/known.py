"""Whether a conversation is here already: by the key it was brought in with, or since it was taken away from here."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from accounts.models import User
from conversations import access
from conversations.models import Conversation, ImportResult
from conversations.transfer.content import Content
from conversations.transfer.incoming.formats import own
from conversations.transfer.incoming.limits import Unfit
from conversations.transfer.incoming.preparing import Prepared
from conversations.transfer.incoming.values import digest_of, known_as

SAME = "It was brought in before, and is the same."
SAME_IN_BIN = "It was brought in before, and is in your bin."
ITSELF = "It is this conversation itself, as it was taken away from here."
OTHER_STATE = "Another state of it was brought in before; both are here."
OVER = "A rule of this server ends conversations of its age, so it would be deleted at once."
GOING = "It was here, and is being deleted by a rule of this server."


@dataclass(frozen=True, slots=True)
class Same:
    """`id`: what is told of it goes with that conversation."""

    id: UUID
    sentence: str
    outcome: ImportResult.Outcome = ImportResult.Outcome.DUPLICATE


def same_as(one: Prepared, owner: User) -> Same | None:
    """What there is already, if only for as long as nothing has deleted it."""
    stored = Conversation.objects.filter(owner=owner, request_key=one.request_key).values_list("pk", flat=True).first()
    if stored is None:
        return _itself(one, owner)
    if access.conversations_of(owner).filter(pk=stored).exists():
        return Same(stored, SAME)
    if access.bin_of(owner).filter(pk=stored).exists():
        return Same(stored, SAME_IN_BIN)
    return Same(stored, GOING, ImportResult.Outcome.REFUSED)


def _itself(one: Prepared, owner: User) -> Same | None:
    if one.conversation.source != own.NAME:
        return None
    try:
        pk = UUID(one.conversation.source_id)
    except ValueError:
        return None
    here: Conversation | None = access.conversations_of(owner).filter(pk=pk).first()
    return Same(pk, ITSELF) if here and digest_of(_said(here)) == one.digest else None


def _said(conversation: Conversation) -> Iterator[tuple[int, int | None, str, object]]:
    for row in Content(conversation).messages():
        yield row.id, row.parent, row.role, json.loads(row.content)


def earlier_states(one: Prepared, owner: User) -> list[str]:
    """What its owner should know: the same conversation grew since it was brought in."""
    source_id = one.conversation.source_id
    if not source_id:
        return []
    states = access.conversations_of(owner).filter(request_key__startswith=known_as(one.conversation.source, source_id))
    return [OTHER_STATE] if states.exists() else []


def expect_visible(made: UUID, owner: User) -> None:
    """Raises `Unfit`: no reader would ever see it."""
    if not access.conversations_of(owner).filter(pk=made).exists():
        raise Unfit(OVER)
