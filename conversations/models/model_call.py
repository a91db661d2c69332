"""The trace of one request to a provider: what it was for, what it took, how it ended. Never what was said."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from conversations.models.references import Reference


class ModelCall(models.Model):
    class Purpose(models.TextChoices):
        REPLY = "reply", "reply"
        TITLE = "title", "title"
        SUMMARY = "summary", "summary"
        EMBEDDING = "embedding", "embedding"

    id = models.BigAutoField(primary_key=True)
    conversation = models.ForeignKey(
        "conversations.Conversation",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="model_calls",
    )
    turn = models.ForeignKey(
        "conversations.Turn",
        null=True,
        blank=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="model_calls",
    )
    purpose = models.CharField(max_length=9, choices=Purpose.choices)
    provider = models.CharField(max_length=60)
    model = models.CharField(max_length=200)
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    cached_tokens = models.PositiveIntegerField(null=True, blank=True)
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True, blank=True, help_text="US dollars.")
    first_token_ms = models.PositiveIntegerField(null=True, blank=True)
    latency_ms = models.PositiveIntegerField()
    outcome = models.CharField(max_length=40, help_text="`ok`, `stopped`, or the code of the error.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="model_call_purpose_is_known",
                condition=Q(purpose__in=["reply", "title", "summary", "embedding"]),
            ),
            Reference(
                name="model_call_goes_with_its_conversation",
                fields=("conversation",),
                to="conversations.Conversation",
                to_fields=("id",),
            ),
            Reference(
                name="model_call_goes_with_its_turn",
                fields=("conversation", "turn"),
                to="conversations.Turn",
                to_fields=("conversation", "id"),
            ),
        ]
        indexes = [
            # Read by the admin's list.
            models.Index(fields=["-created_at"], name="model_call_by_time"),
            # Read behind every reply that makes a summary due: how did the last attempts end?
            models.Index(
                fields=["conversation", "-created_at"], name="model_call_summaries", condition=Q(purpose="summary")
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)
