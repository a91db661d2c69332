"""The receipt of an erasure: what was erased, when, why, by whom, and whether every store was seen to be clean."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q
from django.utils import timezone


class Erasure(models.Model):
    """References and counts: no content, no title, no address. What it names must be nowhere else.

    It refers to nothing: rows that it names are gone, and it outlives the account of whoever asked.
    """

    class Reason(models.TextChoices):
        OWNER = "owner", "its owner deleted it"
        BIN = "bin", "its time in the bin was over"
        RULE = "rule", "a retention rule"
        ADMINISTRATOR = "administrator", "an administrator"
        ACCOUNT = "account", "the account was closed"
        VERSION = "version", "a version was deleted"
        REPLAY = "replay", "a backup had brought it back"

    id = models.BigAutoField(primary_key=True)
    reason = models.CharField(max_length=13, choices=Reason.choices)
    by = models.BigIntegerField(
        "by account", null=True, blank=True, help_text="The number of the account that asked; empty: nobody did."
    )
    conversations = ArrayField(models.UUIDField(), default=list, blank=True)
    turns = ArrayField(models.UUIDField(), default=list, blank=True)
    accounts = ArrayField(models.BigIntegerField(), default=list, blank=True)
    part_of = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="parts",
        help_text="The receipt of the account, or of the large conversation, that this was a part of.",
    )
    began_at = models.DateTimeField(default=timezone.now)
    erased_at = models.DateTimeField(null=True, blank=True, help_text="When the last row was gone.")
    verified_at = models.DateTimeField(
        null=True, blank=True, help_text="When every store was read back and nothing was found. Empty: not verified."
    )
    counts = models.JSONField(default=dict, blank=True, help_text="What was erased, by store or table: how many.")
    left = models.JSONField(
        default=dict,
        blank=True,
        help_text="What the last look found still there, by store: how many, or the kind of exception.",
    )
    looks = models.PositiveIntegerField(default=0, help_text="How often the stores were looked at.")
    next_look_at = models.DateTimeField(
        null=True, blank=True, help_text="When a worker looks at the stores again; empty: there is no need to."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="erasure_reason_is_known",
                condition=Q(reason__in=["owner", "bin", "rule", "administrator", "account", "version", "replay"]),
            ),
            models.CheckConstraint(
                name="erasure_is_verified_after_it_is_done",
                condition=Q(verified_at__isnull=True) | Q(erased_at__isnull=False),
            ),
        ]
        indexes = [
            # Read by the worker that finishes erasures: the few that are not settled.
            models.Index(fields=["next_look_at"], name="erasure_unsettled", condition=Q(next_look_at__isnull=False)),
            # Read by the admin's list.
            models.Index(F("began_at").desc(), name="erasure_by_time"),
            # Read by the admin's search: what became of this conversation?
            GinIndex(fields=["conversations"], name="erasure_of_conversation"),
        ]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def is_verified(self) -> bool:
        return self.verified_at is not None
