"""A conversation: a tree of messages that belongs to one person."""

import uuid
from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.functional import cached_property

from conversations.expiry import EndsAt
from conversations.models.effective_life import EffectiveLife
from conversations.models.references import Reference
from conversations.querysets import ConversationQuerySet

TITLE_CHARACTERS = 200
REQUEST_KEY_CHARACTERS = 200
IMPORTED = "import:"
"""What the request keys of conversations and turns begin with that were brought in; then the name of the format."""


class Conversation(models.Model):
    """`head` is the newest message of the branch the owner is on; the other branches hang off older messages."""

    class TitleSource(models.TextChoices):
        NONE = "none", "no title yet"
        FALLBACK = "fallback", "first words"
        MODEL = "model", "a model"
        USER = "user", "the owner"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conversations", db_index=False
    )
    title = models.CharField(max_length=TITLE_CHARACTERS, blank=True, default="")
    title_source = models.CharField(max_length=8, choices=TitleSource.choices, default=TitleSource.NONE)
    request_key = models.CharField(
        max_length=REQUEST_KEY_CHARACTERS, help_text="Names the request that made it, so that a repetition finds it."
    )
    request_digest = models.CharField(
        max_length=16, blank=True, default="", help_text="Of what that request asked for; empty: it asked a question."
    )
    system_prompt = models.TextField(blank=True, default="", help_text="Empty: the installation's own.")
    model = models.CharField(max_length=200, blank=True, default="", help_text="Empty: the installation's own.")
    head = models.ForeignKey(
        "conversations.Message",
        null=True,
        blank=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_activity_at = models.DateTimeField(
        default=timezone.now,
        help_text="Moves with messages only: renaming, pinning and reading do not count.",
    )
    pinned = models.BooleanField(default=False)
    archived = models.BooleanField(default=False)
    temporary = models.BooleanField(default=False, help_text="Its life is that of temporary conversations.")
    kept = models.BooleanField(
        default=False, help_text="Its owner keeps it: no rule deletes it where people may keep conversations."
    )
    summarises = models.BooleanField(
        default=True, help_text="Whether a summary stands for what no longer fits; none is made or sent otherwise."
    )
    trashed_at = models.DateTimeField(null=True, blank=True)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(name="one_conversation_per_owner_and_request_key", fields=["owner", "request_key"]),
            models.CheckConstraint(
                name="conversation_title_source_is_known",
                condition=Q(title_source__in=["none", "fallback", "model", "user"]),
            ),
            models.CheckConstraint(
                name="conversation_has_a_title_exactly_when_it_has_a_source",
                condition=Q(title="", title_source="none") | (~Q(title="") & ~Q(title_source="none")),
            ),
            models.CheckConstraint(
                name="conversation_is_not_both_temporary_and_kept", condition=~Q(temporary=True, kept=True)
            ),
            Reference(
                name="conversation_head_is_one_of_its_messages",
                fields=("id", "head"),
                to="conversations.Message",
                to_fields=("conversation", "id"),
                on_delete="SET NULL (head_id)",
            ),
        ]
        indexes = [
            # Read by the sidebar, by the archive, and by GET /api/v1/conversations.
            models.Index(
                "owner",
                "archived",
                models.F("pinned").desc(),
                models.F("last_activity_at").desc(),
                models.F("id").desc(),
                name="conversation_list",
                condition=Q(trashed_at__isnull=True),
            ),
            # Read by the page of the bin, and by the purge.
            models.Index(
                "owner",
                models.F("trashed_at").desc(),
                models.F("id").desc(),
                name="conversation_bin",
                condition=Q(trashed_at__isnull=False),
            ),
            # Read by the purge, a person at a time: without a message for long, begun long ago, temporary.
            models.Index(fields=["owner", "last_activity_at"], name="conversation_idle"),
            models.Index(fields=["owner", "created_at"], name="conversation_age"),
            models.Index(
                fields=["owner", "last_activity_at"], name="conversation_temporary", condition=Q(temporary=True)
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)

    @cached_property
    def ends_at(self) -> datetime | None:
        """When it will be over, if nothing more happens in it; None: never. One query, where it was not read along."""
        end: datetime | None = Conversation.objects.filter(pk=self.pk).values_list(EndsAt(), flat=True).first()
        return end

    def forget_end(self) -> None:
        """It is asked for anew: something was changed that it follows from."""
        self.__dict__.pop("ends_at", None)

    @cached_property
    def may_be_kept(self) -> bool:
        """Whether its owner may spare it from the rules. One query."""
        return EffectiveLife.objects.filter(pk=self.owner_id, may_keep=True).exists()


def title_source_of(typed: str) -> Conversation.TitleSource:
    """Whose a title is that the owner typed; an empty one gives the choice back."""
    return Conversation.TitleSource.USER if typed else Conversation.TitleSource.NONE
