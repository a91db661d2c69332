"""The only door to a row a user may see: what is not theirs, or no longer there, does not exist."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db import connection, transaction
from django.http import Http404

from accounts.models import User
from conversations.models import Conversation, Export, Import, Message, Turn
from conversations.querysets import (
    ConversationQuerySet,
    MessageQuerySet,
    TransferQuerySet,
    TurnQuerySet,
    visible_to,
)
from conversations.refusals import GONE


def conversations_of(user: User | AnonymousUser) -> ConversationQuerySet:
    """All conversations `user` may see: none before they have logged in."""
    if isinstance(user, AnonymousUser):
        return Conversation.objects.none()
    return Conversation.objects.visible_to(user)


def bin_of(user: User | AnonymousUser) -> ConversationQuerySet:
    """All conversations in the bin of `user`."""
    if isinstance(user, AnonymousUser):
        return Conversation.objects.none()
    return Conversation.objects.in_bin_of(user)


def binned_of(user: User | AnonymousUser, conversation_id: UUID) -> Conversation:
    """Raises `Http404` when it is not in the bin of `user`."""
    conversation: Conversation | None = bin_of(user).filter(pk=conversation_id).first()
    if conversation is None:
        raise Http404(GONE.format("conversation"))
    return conversation


def exports_of(user: User | AnonymousUser, *, now: datetime) -> TransferQuerySet:
    """The exports of everything that `user` has, the newest first; those whose time is over are gone."""
    if isinstance(user, AnonymousUser):
        return Export.objects.none()
    return Export.objects.kept(now=now).filter(owner=user).defer("conversations").order_by("-created_at")


def export_of(user: User | AnonymousUser, export_id: UUID, *, now: datetime) -> Export:
    """Raises `Http404` when it is not one of `user`, or no longer kept."""
    export: Export | None = exports_of(user, now=now).filter(pk=export_id).first()
    if export is None:
        raise Http404(GONE.format("export"))
    return export


def imports_of(user: User | AnonymousUser, *, now: datetime) -> TransferQuerySet:
    """All imports of `user` that are kept, the newest first."""
    if isinstance(user, AnonymousUser):
        return Import.objects.none()
    return Import.objects.kept(now=now).filter(owner=user).order_by("-created_at")


def import_of(user: User | AnonymousUser, import_id: UUID, *, now: datetime) -> Import:
    """Raises `Http404` when it is not one of `user`, or no longer kept."""
    found: Import | None = imports_of(user, now=now).filter(pk=import_id).first()
    if found is None:
        raise Http404(GONE.format("import"))
    return found


def conversation_of(user: User | AnonymousUser, conversation_id: UUID) -> Conversation:
    """Raises `Http404` when it is not one `user` may see."""
    conversation: Conversation | None = conversations_of(user).filter(pk=conversation_id).first()
    if conversation is None:
        raise Http404(GONE.format("conversation"))
    return conversation


def turn_of(user: User | AnonymousUser, turn_id: UUID) -> Turn:
    """Raises `Http404` when it is not in a conversation `user` may see; brings the conversation and the question."""
    turn: Turn | None = _turns_of(user).filter(pk=turn_id).select_related("conversation", "prompt").first()
    if turn is None:
        raise Http404(GONE.format("reply"))
    return turn


def sees_live_turn(user: User, turn_id: UUID) -> bool:
    """Whether the turn still lives in a conversation that `user` may still see."""
    return _turns_of(user).live().filter(pk=turn_id).exists()


def _turns_of(user: User | AnonymousUser) -> TurnQuerySet:
    if isinstance(user, AnonymousUser):
        return Turn.objects.none()
    return Turn.objects.filter(visible_to(user, through="conversation__"))


def message_of(user: User | AnonymousUser, conversation_id: UUID, message_id: int) -> Message:
    """Raises `Http404` when it is not in a conversation `user` may see; brings the conversation."""
    message: Message | None = (
        Message.objects.filter(pk=message_id, conversation=conversation_id, conversation__in=conversations_of(user))
        .select_related("conversation")
        .first()
    )
    if message is None:
        raise Http404(GONE.format("message"))
    return message


def branch_page(
    conversation: Conversation, *, before: int | None, limit: int, through: int | None = None
) -> MessageQuerySet:
    """The newest `limit` messages of the active branch, or those before one of the conversation's messages, or up to
    and including one.

    Raises:
        Http404: that message is not there, or no longer.
    """
    tip = conversation.head_id
    if (end := before or through) is not None:
        one = Message.objects.filter(conversation=conversation, pk=end).values("pk", "parent_id").first()
        if one is None:
            raise Http404(GONE.format("message"))
        tip = one["parent_id" if before else "pk"]
    return Message.objects.branch(tip, rows=limit)


@contextmanager
def as_of_one_moment() -> Iterator[None]:
    """Everything read inside is of one moment.

    A reply may end between two queries; without this a page could show its turn as finished and its words as missing.
    """
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield
