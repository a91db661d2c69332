"""A file of conversations that a person has sent, on its way into their account, and what became of each of them."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from conversations.models.references import Reference
from conversations.querysets import UNDER_WAY, TransferQuerySet

SENTENCE_CHARACTERS = 300
FILE_NAME_CHARACTERS = 200


class Import(models.Model):
    """Begins queued, is read by one worker at a time; from its end on the file is gone, the row stays until
    `expires_at`."""

    class Status(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        COMPLETE = "complete", "complete"
        FAILED = "failed", "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="imports", db_index=False
    )
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.QUEUED)
    file_name = models.CharField(
        max_length=FILE_NAME_CHARACTERS, blank=True, default="", help_text="As it was sent, for its owner to see."
    )
    size = models.PositiveBigIntegerField(help_text="Bytes of the file.")
    is_dry_run = models.BooleanField(default=False, help_text="Only told what would be brought in.")
    takes_instructions = models.BooleanField(
        default=False, help_text="System prompts in the file instruct models here: its owner said so."
    )
    source = models.CharField(max_length=20, blank=True, default="", help_text="Its format, once that is known.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True, help_text="Of the last attempt.")
    finished_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="From then on the row is not kept.")
    lease_until = models.DateTimeField(null=True, blank=True, help_text="Past this moment its worker is lost.")
    attempts = models.PositiveSmallIntegerField(default=0)
    seen = models.PositiveIntegerField(default=0, help_text="Conversations of the file that were dealt with.")
    imported = models.PositiveIntegerField(default=0)
    duplicates = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    error = models.CharField(
        max_length=SENTENCE_CHARACTERS, blank=True, default="", help_text="Why the file was not read to its end."
    )

    objects = TransferQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="import_status_is_known", condition=Q(status__in=["queued", "running", "complete", "failed"])
            ),
            models.UniqueConstraint(
                name="one_import_under_way_per_owner", fields=["owner"], condition=Q(status__in=UNDER_WAY)
            ),
            models.CheckConstraint(
                name="import_ends_and_expires_exactly_when_not_under_way",
                condition=Q(status__in=UNDER_WAY, finished_at__isnull=True, expires_at__isnull=True)
                | (~Q(status__in=UNDER_WAY) & Q(finished_at__isnull=False, expires_at__isnull=False)),
            ),
            models.CheckConstraint(
                name="import_has_a_lease_exactly_while_it_is_running",
                condition=Q(status="running", lease_until__isnull=False)
                | (~Q(status="running") & Q(lease_until__isnull=True)),
            ),
            models.CheckConstraint(
                name="import_says_why_exactly_when_it_failed",
                condition=(Q(status="failed") & ~Q(error="")) | (~Q(status="failed") & Q(error="")),
            ),
            models.CheckConstraint(
                name="import_has_seen_what_it_counts",
                condition=Q(seen=F("imported") + F("duplicates") + F("refused")),
            ),
        ]
        indexes = [
            # Read by its owner's page: the newest first.
            models.Index(fields=["owner", "-created_at"], name="import_of_owner"),
            # Read by the task that removes what has expired.
            models.Index(fields=["expires_at"], name="import_expiry", condition=Q(expires_at__isnull=False)),
            # Read by the task that looks after those under way, which are few.
            models.Index(fields=["created_at"], name="import_under_way", condition=Q(status__in=UNDER_WAY)),
        ]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def is_under_way(self) -> bool:
        return self.status in UNDER_WAY


class ImportResult(models.Model):
    """What became of one conversation of a file. Gone with the import, and with the conversation."""

    class Outcome(models.TextChoices):
        IMPORTED = "imported", "imported"
        DUPLICATE = "duplicate", "here already"
        REFUSED = "refused", "refused"

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(Import, on_delete=models.CASCADE, related_name="results", db_index=False)
    number = models.PositiveIntegerField(help_text="Its place in the file, from 1.")
    outcome = models.CharField(max_length=9, choices=Outcome.choices)
    conversation = models.ForeignKey(
        "conversations.Conversation",
        null=True,
        blank=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="import_results",
        help_text="What was made of it, or what it is the same as.",
    )
    title = models.CharField(
        max_length=200, blank=True, default="", help_text="In the file, where there is no conversation to ask."
    )
    detail = models.CharField(max_length=SENTENCE_CHARACTERS, blank=True, default="", help_text="Why, or what with.")

    class Meta:
        constraints = [
            models.UniqueConstraint(name="one_result_per_import_and_number", fields=["run", "number"]),
            models.CheckConstraint(
                name="import_result_outcome_is_known", condition=Q(outcome__in=["imported", "duplicate", "refused"])
            ),
            Reference(
                name="import_result_goes_with_its_conversation",
                fields=("conversation",),
                to="conversations.Conversation",
                to_fields=("id",),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id} {self.number}"
