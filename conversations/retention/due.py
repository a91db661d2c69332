"""What is over and goes: the one question that preview and purge ask, and that a rule's effect is measured with."""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from conversations import expiry
from conversations.expiry import Kind
from conversations.models import Conversation, Hold, ModelCall, RetentionRule
from conversations.querysets import ConversationQuerySet

IS_HELD = Q(owner__life__is_held=True) | Q(expiry.hold_on_it())
"""A conversation, itself or with its owner."""


def condition(kinds: Collection[Kind], now: datetime) -> Q:
    return expiry.any_over(kinds, now, row=F, life=lambda name: F(f"owner__life__{name}"))


def due(now: datetime, *, kinds: Collection[Kind] = tuple(Kind)) -> ConversationQuerySet:
    """Conversations that are over at `now` for any of the reasons, under the rules as this transaction sees them."""
    return Conversation.objects.filter(condition(kinds, now), ~Q(expiry.hold_on_it()), owner__life__is_held=False)


def spared(now: datetime) -> ConversationQuerySet:
    """Conversations that would be due, were they not held."""
    return Conversation.objects.filter(condition(tuple(Kind), now), IS_HELD)


def traces_due(now: datetime) -> QuerySet[ModelCall]:
    """Traces past their life, but of what is held."""
    days = RetentionRule.objects.filter(scope=RetentionRule.Scope.EVERYONE).values_list("trace_days", flat=True).first()
    if days is None:
        return ModelCall.objects.none()
    on_it = Q(conversation=OuterRef("conversation")) | Q(user=OuterRef("conversation__owner"))
    past: QuerySet[ModelCall] = ModelCall.objects.filter(created_at__lte=now - timedelta(days=days))
    return past.filter(~Exists(Hold.objects.lasting().filter(on_it)))
