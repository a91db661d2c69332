"""A person brings conversations in, a file at a time; what became of each is told for a month."""

import uuid

import django.db.models.deletion
import django.db.models.expressions
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import conversations.models.references

UNSAMPLED = [
    "ALTER TABLE conversations_import ALTER COLUMN file_name SET STATISTICS 0, ALTER COLUMN error SET STATISTICS 0",
    "ALTER TABLE conversations_importresult ALTER COLUMN title SET STATISTICS 0, ALTER COLUMN detail SET STATISTICS 0",
]
"""The planner keeps samples of a column, which outlive its rows: of what people write it shall keep none."""


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0026_the_purge_runs_every_day"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Import",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("running", "running"),
                            ("complete", "complete"),
                            ("failed", "failed"),
                        ],
                        default="queued",
                        max_length=8,
                    ),
                ),
                (
                    "file_name",
                    models.CharField(
                        blank=True, default="", help_text="As it was sent, for its owner to see.", max_length=200
                    ),
                ),
                ("size", models.PositiveBigIntegerField(help_text="Bytes of the file.")),
                ("is_dry_run", models.BooleanField(default=False, help_text="Only told what would be brought in.")),
                (
                    "takes_instructions",
                    models.BooleanField(
                        default=False, help_text="System prompts in the file instruct models here: its owner said so."
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        blank=True, default="", help_text="Its format, once that is known.", max_length=20
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("started_at", models.DateTimeField(blank=True, help_text="Of the last attempt.", null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "expires_at",
                    models.DateTimeField(blank=True, help_text="From then on the row is not kept.", null=True),
                ),
                (
                    "lease_until",
                    models.DateTimeField(blank=True, help_text="Past this moment its worker is lost.", null=True),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                (
                    "seen",
                    models.PositiveIntegerField(default=0, help_text="Conversations of the file that were dealt with."),
                ),
                ("imported", models.PositiveIntegerField(default=0)),
                ("duplicates", models.PositiveIntegerField(default=0)),
                ("refused", models.PositiveIntegerField(default=0)),
                (
                    "error",
                    models.CharField(
                        blank=True, default="", help_text="Why the file was not read to its end.", max_length=300
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="imports",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ImportResult",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("number", models.PositiveIntegerField(help_text="Its place in the file, from 1.")),
                (
                    "outcome",
                    models.CharField(
                        choices=[("imported", "imported"), ("duplicate", "here already"), ("refused", "refused")],
                        max_length=9,
                    ),
                ),
                (
                    "title",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="In the file, where there is no conversation to ask.",
                        max_length=200,
                    ),
                ),
                ("detail", models.CharField(blank=True, default="", help_text="Why, or what with.", max_length=300)),
                (
                    "conversation",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        help_text="What was made of it, or what it is the same as.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="import_results",
                        to="conversations.conversation",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="results",
                        to="conversations.import",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="import",
            index=models.Index(fields=["owner", "-created_at"], name="import_of_owner"),
        ),
        migrations.AddIndex(
            model_name="import",
            index=models.Index(
                condition=models.Q(("expires_at__isnull", False)), fields=["expires_at"], name="import_expiry"
            ),
        ),
        migrations.AddIndex(
            model_name="import",
            index=models.Index(
                condition=models.Q(("status__in", ("queued", "running"))),
                fields=["created_at"],
                name="import_under_way",
            ),
        ),
        migrations.AddConstraint(
            model_name="import",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["queued", "running", "complete", "failed"])),
                name="import_status_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="import",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status__in", ("queued", "running"))),
                fields=("owner",),
                name="one_import_under_way_per_owner",
            ),
        ),
        migrations.AddConstraint(
            model_name="import",
            constraint=models.CheckConstraint(
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
                name="import_ends_and_expires_exactly_when_not_under_way",
            ),
        ),
        migrations.AddConstraint(
            model_name="import",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("lease_until__isnull", False), ("status", "running")),
                    models.Q(models.Q(("status", "running"), _negated=True), ("lease_until__isnull", True)),
                    _connector="OR",
                ),
                name="import_has_a_lease_exactly_while_it_is_running",
            ),
        ),
        migrations.AddConstraint(
            model_name="import",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("status", "failed"), models.Q(("error", ""), _negated=True)),
                    models.Q(models.Q(("status", "failed"), _negated=True), ("error", "")),
                    _connector="OR",
                ),
                name="import_says_why_exactly_when_it_failed",
            ),
        ),
        migrations.AddConstraint(
            model_name="import",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "seen",
                        django.db.models.expressions.CombinedExpression(
                            django.db.models.expressions.CombinedExpression(
                                models.F("imported"), "+", models.F("duplicates")
                            ),
                            "+",
                            models.F("refused"),
                        ),
                    )
                ),
                name="import_has_seen_what_it_counts",
            ),
        ),
        migrations.AddConstraint(
            model_name="importresult",
            constraint=models.UniqueConstraint(fields=("run", "number"), name="one_result_per_import_and_number"),
        ),
        migrations.AddConstraint(
            model_name="importresult",
            constraint=models.CheckConstraint(
                condition=models.Q(("outcome__in", ["imported", "duplicate", "refused"])),
                name="import_result_outcome_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="importresult",
            constraint=conversations.models.references.Reference(
                fields=("conversation",),
                name="import_result_goes_with_its_conversation",
                on_delete="CASCADE",
                to="conversations.Conversation",
                to_fields=("id",),
            ),
        ),
        *(migrations.RunSQL(statement, migrations.RunSQL.noop) for statement in UNSAMPLED),
    ]
