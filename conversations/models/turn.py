"""A turn: one question and everything produced to answer it."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from conversations.models.conversation import IMPORTED, REQUEST_KEY_CHARACTERS
from conversations.models.references import Reference
from conversations.querysets import LIVE_STATUSES, TERMINAL_STATUSES, TurnQuerySet


class Turn(models.Model):
    """Begins queued, is claimed by one worker, and ends exactly once."""

    class Status(models.TextChoices):
        QUEUED = "queued", "queued"
        STREAMING = "streaming", "streaming"
        COMPLETE = "complete", "complete"
        STOPPED = "stopped", "stopped"
        FAILED = "failed", "failed"
        INTERRUPTED = "interrupted", "interrupted"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(
        "conversations.Conversation",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="turns",
    )
    prompt = models.ForeignKey(
        "conversations.Message", on_delete=models.DO_NOTHING, db_constraint=False, related_name="turns_asked"
    )
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.QUEUED)
    request_key = models.CharField(max_length=REQUEST_KEY_CHARACTERS)
    model = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(help_text="A live turn past this moment was abandoned.")
    stop_requested_at = models.DateTimeField(null=True, blank=True)
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    cached_tokens = models.PositiveIntegerField(null=True, blank=True, help_text="Part of the input tokens.")
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True, blank=True, help_text="US dollars.")
    error_code = models.CharField(max_length=40, blank=True, default="")
    was_cut_off = models.BooleanField(default=False, help_text="The reply ended at its token limit.")
    context = models.JSONField(null=True, blank=True, help_text="What the model was sent: references, no text.")

    objects = TurnQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                name="one_live_turn_per_conversation",
                fields=["conversation"],
                condition=Q(status__in=LIVE_STATUSES),
            ),
            models.UniqueConstraint(
                name="one_turn_per_conversation_and_request_key", fields=["conversation", "request_key"]
            ),
            models.UniqueConstraint(name="turn_is_known_by_its_conversation", fields=["conversation", "id"]),
            models.CheckConstraint(
                name="turn_status_is_known", condition=Q(status__in=[*LIVE_STATUSES, *TERMINAL_STATUSES])
            ),
            models.CheckConstraint(
                name="turn_is_finished_exactly_when_its_status_is_terminal",
                condition=Q(status__in=TERMINAL_STATUSES, finished_at__isnull=False)
                | Q(status__in=LIVE_STATUSES, finished_at__isnull=True),
            ),
            models.CheckConstraint(
                name="turn_says_why_exactly_when_it_failed",
                condition=(Q(status="failed") & ~Q(error_code="")) | (~Q(status="failed") & Q(error_code="")),
            ),
            Reference(
                name="turn_goes_with_its_conversation",
                fields=("conversation",),
                to="conversations.Conversation",
                to_fields=("id",),
            ),
            Reference(
                name="turn_prompt_is_in_the_same_conversation",
                fields=("conversation", "prompt"),
                to="conversations.Message",
                to_fields=("conversation", "id"),
            ),
        ]
        indexes = [
            # Read by the sweep: the few live turns, whatever the number of finished ones.
            models.Index(fields=["lease_until"], name="turn_live", condition=Q(status__in=LIVE_STATUSES)),
            # Read by every page of a conversation: which tools was its model offered last?
            models.Index(
                fields=["conversation", "model", "-created_at"],
                name="turn_with_context",
                condition=Q(context__isnull=False),
            ),
            # Read by the admin's list.
            models.Index(fields=["-created_at"], name="turn_by_time"),
            # Read behind replies where a summary failed: how many turns ended since?
            models.Index(
                fields=["conversation", "-finished_at"], name="turn_ended", condition=Q(finished_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def is_live(self) -> bool:
        return self.status in LIVE_STATUSES

    @property
    def source(self) -> str:
        """The format of the file it was brought in with; empty: it was asked here."""
        return (
            self.request_key.removeprefix(IMPORTED).partition(":")[0] if self.request_key.startswith(IMPORTED) else ""
        )

    @property
    def brought_its_prompt(self) -> bool:
        """It began with its question; any other turn of that question answers it again.

        Question and turn are of one moment then. One that was handed a question, whose own turn was deleted, is later.
        """
        return bool(self.prompt.turn_id == self.pk and self.prompt.created_at == self.created_at)
