"""Who changed which rule, hold or membership, and when: rows that nobody changes."""

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import F, Q
from django.utils import timezone


class RetentionChange(models.Model):
    """One change. Accounts are named by reference alone, so that nothing of a closed one stays here."""

    class What(models.TextChoices):
        RULE_MADE = "rule_made", "rule made"
        RULE_CHANGED = "rule_changed", "rule changed"
        RULE_REMOVED = "rule_removed", "rule removed"
        HOLD_PLACED = "hold_placed", "hold placed"
        HOLD_LIFTED = "hold_lifted", "hold lifted"
        MEMBERSHIP = "membership", "groups changed"

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Empty: a command, or somebody whose account is closed.",
    )
    what = models.CharField(max_length=12, choices=What.choices)
    scope = models.CharField(max_length=8, blank=True, default="", help_text="Of a rule.")
    group = models.CharField(max_length=150, blank=True, default="", help_text="The name it had.")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", help_text="Whom it is about."
    )
    conversation_id = models.UUIDField(null=True, help_text="Of a hold.")
    before = models.JSONField(default=dict, encoder=DjangoJSONEncoder, help_text="What the rule said.")
    after = models.JSONField(default=dict, encoder=DjangoJSONEncoder, help_text="What the rule says.")
    due = models.JSONField(default=dict, help_text="What was due for deletion under it when it was confirmed.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="retention_change_is_known",
                condition=Q(
                    what__in=["rule_made", "rule_changed", "rule_removed", "hold_placed", "hold_lifted", "membership"]
                ),
            ),
        ]
        indexes = [
            # Read by the admin: the newest first.
            models.Index(F("at").desc(), name="retention_change_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.get_what_display()} {self.at:%Y-%m-%d %H:%M}"
