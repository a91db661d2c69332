"""A legal hold: nothing of a person, or of one conversation, is erased while it lasts."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from conversations.models.conversation import Conversation
from conversations.models.references import Reference

REASON_CHARACTERS = 500


class HoldQuerySet(models.QuerySet[Any]):
    """Holds, by whether they last."""

    def lasting(self) -> "HoldQuerySet":
        return self.filter(lifted_at__isnull=True)

    def on_conversations(self, conversation_ids: Collection[UUID]) -> set[UUID]:
        """Those that are held, themselves or with their owner; one query."""
        holds = self.lasting().filter(Q(conversation=OuterRef("pk")) | Q(user=OuterRef("owner")))
        return set(Conversation.objects.filter(Exists(holds), pk__in=conversation_ids).values_list("pk", flat=True))


class Hold(models.Model):
    """On a user or a conversation. Several may last at once, each for a reason of its own; a lifted one is kept."""

    id = models.BigAutoField(primary_key=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="holds",
        help_text="Everything of this person is held.",
    )
    conversation = models.ForeignKey(
        "conversations.Conversation",
        null=True,
        blank=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="holds",
        help_text="This conversation alone is held: its id, as it stands in its address.",
    )
    reason = models.CharField(max_length=REASON_CHARACTERS, help_text="A matter, a file number: who asked for it.")
    since = models.DateTimeField(default=timezone.now, editable=False)
    placed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    lifted_at = models.DateTimeField(null=True, editable=False)
    lifted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )

    objects = HoldQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="hold_is_on_a_user_or_on_a_conversation",
                condition=Q(user__isnull=False, conversation__isnull=True)
                | Q(user__isnull=True, conversation__isnull=False),
            ),
            models.CheckConstraint(name="hold_has_a_reason", condition=~Q(reason="")),
            models.CheckConstraint(name="hold_is_lifted_after_it_was_placed", condition=Q(lifted_at__gte=F("since"))),
            Reference(
                name="hold_goes_with_its_conversation",
                fields=("conversation",),
                to="conversations.Conversation",
                to_fields=("id",),
            ),
        ]
        indexes = [
            # Read by every reader and by the purge: the few that last.
            models.Index(fields=["conversation"], name="hold_lasting", condition=Q(lifted_at__isnull=True)),
        ]

    def __str__(self) -> str:
        return f"hold {self.pk}"
