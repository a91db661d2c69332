"""Messages that were said elsewhere become part of a conversation: no model is asked."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone

from conversations import calibration, searching, tree
from conversations.asking import fallback_title
from conversations.models import Conversation, Message, Turn
from conversations.prompts import model_for
from conversations.refusals import ConversationBusy
from conversations.text import clean_blocks

Said = tuple[Message.Role, str]
"""Who speaks, the user or the assistant, and the words."""


def append(conversation_id: UUID, said: Sequence[Said]) -> list[Message]:
    """Put messages behind the head, in order, all or none; the newest becomes the head.

    What a user says begins a turn; what the assistant says belongs to the turn before it, and begins one only where
    there is none. Writers of one conversation wait for each other.

    Raises:
        Http404: the conversation is gone, or in the bin.
        ConversationBusy: a reply is being written.
    """
    with transaction.atomic():
        conversation = tree.locked(conversation_id)
        refuse_when_live(conversation)
        now = timezone.now()
        rows = [_appended(conversation, role, text, now) for role, text in said]
        if rows:
            searching.write(rows)
            conversation.last_activity_at = now
            if conversation.title_source == Conversation.TitleSource.NONE:
                for field, value in fallback_title(said[0][1]).items():
                    setattr(conversation, field, value)
            conversation.save(update_fields=["head", "last_activity_at", "title", "title_source"])
    return rows


def clear(conversation_id: UUID) -> int:
    """Delete all messages of a conversation for good, on every branch; returns how many. The conversation stays, and
    its title if its owner gave it: any other tells what was said.

    Raises:
        Http404, ConversationBusy, Held
    """
    with transaction.atomic():
        conversation = tree.locked(conversation_id)
        tree.refuse_when_held(conversation)
        refuse_when_live(conversation)
        removed, _ = Message.objects.filter(conversation=conversation).delete()
        if conversation.title_source != Conversation.TitleSource.USER:
            conversation.title, conversation.title_source = "", Conversation.TitleSource.NONE
            conversation.save(update_fields=["title", "title_source"])
    return removed


def refuse_when_live(conversation: Conversation) -> None:
    """Whoever asks holds the conversation.

    Raises:
        ConversationBusy
    """
    if live := Turn.objects.live().filter(conversation=conversation).first():
        raise ConversationBusy(live.pk)


def _appended(conversation: Conversation, role: Message.Role, text: str, now: datetime) -> Message:
    begins = role == Message.Role.USER or conversation.head is None
    turn_id = uuid4() if begins or conversation.head is None else conversation.head.turn_id
    message: Message = Message.objects.create(
        conversation=conversation,
        turn_id=turn_id,
        parent=conversation.head,
        role=role,
        content=clean_blocks([{"type": "text", "text": text}]),
        tokens=calibration.message_tokens(text, model_for(conversation)),
        created_at=now,
    )
    if begins:
        # The two name each other, which the database checks last.
        Turn.objects.create(
            id=turn_id,
            conversation=conversation,
            prompt=message,
            status=Turn.Status.COMPLETE,
            request_key=str(uuid4()),
            created_at=now,
            finished_at=now,
            lease_until=now,
        )
    conversation.head = message
    return message
