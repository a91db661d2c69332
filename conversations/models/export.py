"""Everything that a person has here, made into one file that they take away."""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from conversations.querysets import UNDER_WAY, TransferQuerySet


class Export(models.Model):
    """Begins queued, is made by one worker at a time, and is kept until `expires_at`, as is the word of a failure."""

    class Status(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        READY = "ready", "ready"
        FAILED = "failed", "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="exports", db_index=False
    )
    status = models.CharField(max_length=7, choices=Status.choices, default=Status.QUEUED)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True, help_text="Of the last attempt.")
    finished_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="From then on neither file nor row are kept.")
    lease_until = models.DateTimeField(null=True, blank=True, help_text="Past this moment its worker is lost.")
    attempts = models.PositiveSmallIntegerField(default=0)
    conversations = ArrayField(
        models.UUIDField(), default=list, blank=True, help_text="What is in the file, so that erasing one finds it."
    )
    total = models.PositiveIntegerField(default=0, help_text="Messages to be written.")
    done = models.PositiveIntegerField(default=0, help_text="Messages written.")
    size = models.PositiveBigIntegerField(null=True, blank=True, help_text="Bytes of the file.")
    error_code = models.CharField(max_length=40, blank=True, default="")

    objects = TransferQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="export_status_is_known", condition=Q(status__in=["queued", "running", "ready", "failed"])
            ),
            models.UniqueConstraint(
                name="one_export_under_way_per_owner", fields=["owner"], condition=Q(status__in=UNDER_WAY)
            ),
            models.CheckConstraint(
                name="export_ends_and_expires_exactly_when_not_under_way",
                condition=Q(status__in=UNDER_WAY, finished_at__isnull=True, expires_at__isnull=True)
                | (~Q(status__in=UNDER_WAY) & Q(finished_at__isnull=False, expires_at__isnull=False)),
            ),
            models.CheckConstraint(
                name="export_has_a_lease_exactly_while_it_is_running",
                condition=Q(status="running", lease_until__isnull=False)
                | (~Q(status="running") & Q(lease_until__isnull=True)),
            ),
            models.CheckConstraint(
                name="export_has_a_size_exactly_when_it_is_ready",
                condition=Q(status="ready", size__isnull=False) | (~Q(status="ready") & Q(size__isnull=True)),
            ),
            models.CheckConstraint(
                name="export_says_why_exactly_when_it_failed",
                condition=(Q(status="failed") & ~Q(error_code="")) | (~Q(status="failed") & Q(error_code="")),
            ),
            models.CheckConstraint(name="export_has_done_at_most_its_total", condition=Q(done__lte=F("total"))),
        ]
        indexes = [
            # Read by its owner's page: the newest first.
            models.Index(fields=["owner", "-created_at"], name="export_of_owner"),
            # Read by the task that removes what has expired.
            models.Index(fields=["expires_at"], name="export_expiry", condition=Q(expires_at__isnull=False)),
            # Read by the task that looks after those under way, which are few.
            models.Index(fields=["created_at"], name="export_under_way", condition=Q(status__in=UNDER_WAY)),
            # Read when conversations are erased: which files hold one of them?
            GinIndex(fields=["conversations"], name="export_conversations"),
        ]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def is_under_way(self) -> bool:
        return self.status in UNDER_WAY

    @property
    def is_ready(self) -> bool:
        return self.status == self.Status.READY
