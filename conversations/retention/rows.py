"""The rows of conversations: deleted in short transactions of bounded size, and looked for afterwards.

Whoever writes into a conversation holds its row first, and finds it gone; the database refuses what comes in another
way. So no late writer brings anything back.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import connection, transaction
from django.db.models import Count, Model, QuerySet, Value

from conversations.models import Conversation, Message, Turn
from conversations.retention.holds import refuse_when_held
from conversations.retention.ids import Ids

MESSAGES_AT_ONCE = 10_000
"""Deleted in one transaction at most, in less than a second; a conversation with more is deleted in steps."""

CONVERSATIONS_AT_ONCE = 200

LOCK_SECONDS = 3
"""A transaction waits so long for a row that somebody holds, then for the next try."""


def sizes(ids: Collection[UUID]) -> dict[UUID, int]:
    """Messages of each of the conversations that are there."""
    there = Conversation.objects.filter(pk__in=ids).values_list("pk", flat=True)
    counted = Message.objects.filter(conversation__in=list(ids)).values("conversation").annotate(count=Count("pk"))
    counts = {row["conversation"]: row["count"] for row in counted}
    return {pk: counts.get(pk, 0) for pk in there}


def batches(sizes: Mapping[UUID, int]) -> Iterator[list[UUID]]:
    """Conversations that are deleted together; one that is too large for a transaction is alone."""
    batch, total = list[UUID](), 0
    for pk, size in sorted(sizes.items()):
        if batch and (total + size > MESSAGES_AT_ONCE or len(batch) >= CONVERSATIONS_AT_ONCE):
            yield batch
            batch, total = [], 0
        batch, total = [*batch, pk], total + size
    if batch:
        yield batch


def wait_briefly() -> None:
    """In this transaction: nobody who chats waits behind us while we wait for somebody else."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")


def locked(ids: Collection[UUID]) -> list[UUID]:
    """Those that are still there, held until the transaction ends, whether or not they are in the bin.

    All in one order, so that nobody waits in a circle.
    """
    rows = Conversation.objects.filter(pk__in=ids).select_for_update().order_by("pk")
    return list(rows.values_list("pk", flat=True))


def turns_of(ids: Collection[UUID]) -> list[UUID]:
    return list(Turn.objects.filter(conversation__in=ids).values_list("pk", flat=True))


def tables() -> list[type[Model]]:
    """Everything that hangs off a conversation, now and in the future."""
    found = [model for model in apps.get_models() if _names_conversation(model)]
    return sorted(found, key=lambda model: model._meta.model_name or "")


def _names_conversation(model: type[Model]) -> bool:
    return any(
        field.name == "conversation" and field.related_model is Conversation for field in model._meta.concrete_fields
    )


def counted(ids: "Collection[UUID] | QuerySet[Conversation, Any]") -> dict[str, int]:
    """Rows by table, without those that have none; one query."""
    every = [_count(model, "conversation", ids) for model in tables()]
    first = _count(Conversation, "pk", ids)
    return {name: count for name, count in first.union(*every, all=True) if count}


def _count(model: type[Model], column: str, ids: object) -> "QuerySet[Any, tuple[str, int]]":
    rows = (
        model._default_manager.filter(**{f"{column}__in": ids}).order_by().values(table=Value(model._meta.model_name))
    )
    counts: QuerySet[Any, tuple[str, int]] = rows.annotate(count=Count("*")).values_list("table", "count")
    return counts


def is_large(conversation_id: UUID) -> bool:
    """Whether it has more messages than one transaction deletes."""
    beyond = Message.objects.filter(conversation=conversation_id).order_by("pk")
    return beyond.values_list("pk", flat=True)[MESSAGES_AT_ONCE : MESSAGES_AT_ONCE + 1].exists()


def hide(conversation_id: UUID, *, now: datetime) -> list[UUID]:
    """Nobody sees it while it is erased in steps, and its reply ends, also when it was taken out of the bin between
    two of them; returns the turns that were live."""
    Conversation.objects.filter(pk=conversation_id, trashed_at__isnull=True).update(trashed_at=now)
    live = Turn.objects.live().filter(conversation=conversation_id)
    ended = list(live.values_list("pk", flat=True))
    live.update(status=Turn.Status.STOPPED, finished_at=now)
    return ended


def delete(ids: Collection[UUID]) -> None:
    """One statement; the database takes along what hangs off them."""
    Conversation.objects.filter(pk__in=ids).delete()


def delete_turns(ids: Collection[UUID]) -> set[UUID]:
    """Delete turns out of conversations that stay, as deleting a version does; returns all that went with them.

    A question that another turn answers, too, goes to that one. An owner who stood below is led to the newest message.
    """
    with transaction.atomic():
        wait_briefly()
        conversations = locked(Turn.objects.filter(pk__in=ids).values_list("conversation", flat=True))
        refuse_when_held(conversations)
        before = {*turns_of(conversations)}
        for question in Message.objects.filter(turn__in=ids, role=Message.Role.USER):
            others = Turn.objects.filter(prompt=question).exclude(pk__in=ids).order_by("created_at")
            if (other := others.first()) is not None:
                Message.objects.filter(pk=question.pk).update(turn=other)
        Turn.objects.filter(pk__in=ids).delete()
        for headless in Conversation.objects.filter(pk__in=conversations, head__isnull=True):
            headless.head = Message.objects.filter(conversation=headless).order_by("pk").last()
            headless.save(update_fields=["head"])
        return before - {*turns_of(conversations)}


def newest(conversation_id: UUID) -> QuerySet[Message]:
    """As many of its newest messages as are deleted at once, with all that hang off them: those have higher ids."""
    messages = Message.objects.filter(conversation=conversation_id)
    beyond = messages.order_by("-pk").values_list("pk", flat=True)[MESSAGES_AT_ONCE : MESSAGES_AT_ONCE + 1]
    floor = next(iter(beyond), None)
    return messages if floor is None else messages.filter(pk__gt=floor)


class Rows:
    """The store of all of them."""

    name = "rows"

    def erase(self, ids: Ids) -> int:
        """What a resumed erasure, or a restored backup, has left."""
        found = sum(counted(ids.conversations).values())
        delete(ids.conversations)
        return found + len(delete_turns(ids.turns))

    def find(self, ids: Ids) -> int:
        return sum(counted(ids.conversations).values()) + Turn.objects.filter(pk__in=ids.turns).count()
