"""A person has everything of theirs made into a file, one at a time, which is kept for some days."""

import uuid

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0020_attempts_at_summaries_are_found_without_the_others"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Export",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("running", "running"),
                            ("ready", "ready"),
                            ("failed", "failed"),
                        ],
                        default="queued",
                        max_length=7,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("started_at", models.DateTimeField(blank=True, help_text="Of the last attempt.", null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "expires_at",
                    models.DateTimeField(
                        blank=True, help_text="From then on neither file nor row are kept.", null=True
                    ),
                ),
                (
                    "lease_until",
                    models.DateTimeField(blank=True, help_text="Past this moment its worker is lost.", null=True),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                (
                    "conversations",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(),
                        blank=True,
                        default=list,
                        help_text="What is in the file, so that erasing one finds it.",
                        size=None,
                    ),
                ),
                ("total", models.PositiveIntegerField(default=0, help_text="Messages to be written.")),
                ("done", models.PositiveIntegerField(default=0, help_text="Messages written.")),
                ("size", models.PositiveBigIntegerField(blank=True, help_text="Bytes of the file.", null=True)),
                ("error_code", models.CharField(blank=True, default="", max_length=40)),
                (
                    "owner",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="exports",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["owner", "-created_at"], name="export_of_owner"),
                    models.Index(
                        condition=models.Q(("expires_at__isnull", False)), fields=["expires_at"], name="export_expiry"
                    ),
                    models.Index(
                        condition=models.Q(("status__in", ("queued", "running"))),
                        fields=["created_at"],
                        name="export_under_way",
                    ),
                    django.contrib.postgres.indexes.GinIndex(fields=["conversations"], name="export_conversations"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["queued", "running", "ready", "failed"])),
                        name="export_status_is_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("status__in", ("queued", "running"))),
                        fields=("owner",),
                        name="one_export_under_way_per_owner",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("expires_at__isnull", True),
                                ("finished_at__isnull", True),
                                ("status__in", ("queued", "running")),
                            ),
                            models.Q(
                                models.Q(("status__in", ("queued", "running")), _negated=True),
                                ("expires_at__isnull", False),
                                ("finished_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="export_ends_and_expires_exactly_when_not_under_way",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lease_until__isnull", False), ("status", "running")),
                            models.Q(models.Q(("status", "running"), _negated=True), ("lease_until__isnull", True)),
                            _connector="OR",
                        ),
                        name="export_has_a_lease_exactly_while_it_is_running",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("size__isnull", False), ("status", "ready")),
                            models.Q(models.Q(("status", "ready"), _negated=True), ("size__isnull", True)),
                            _connector="OR",
                        ),
                        name="export_has_a_size_exactly_when_it_is_ready",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "failed"), models.Q(("error_code", ""), _negated=True)),
                            models.Q(models.Q(("status", "failed"), _negated=True), ("error_code", "")),
                            _connector="OR",
                        ),
                        name="export_says_why_exactly_when_it_failed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("done__lte", models.F("total"))), name="export_has_done_at_most_its_total"
                    ),
                ],
            },
        ),
    ]
