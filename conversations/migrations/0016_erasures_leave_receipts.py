"""What was erased, when, why, and whether every store was seen to be clean."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0015_holds"),
    ]

    operations = [
        migrations.CreateModel(
            name="Erasure",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("owner", "its owner deleted it"),
                            ("bin", "its time in the bin was over"),
                            ("rule", "a retention rule"),
                            ("administrator", "an administrator"),
                            ("account", "the account was closed"),
                            ("version", "a version was deleted"),
                            ("replay", "a backup had brought it back"),
                        ],
                        max_length=13,
                    ),
                ),
                (
                    "by",
                    models.BigIntegerField(
                        blank=True,
                        help_text="The number of the account that asked; empty: nobody did.",
                        null=True,
                        verbose_name="by account",
                    ),
                ),
                (
                    "conversations",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), blank=True, default=list, size=None
                    ),
                ),
                (
                    "turns",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), blank=True, default=list, size=None
                    ),
                ),
                (
                    "accounts",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), blank=True, default=list, size=None
                    ),
                ),
                (
                    "part_of",
                    models.ForeignKey(
                        blank=True,
                        help_text="The receipt of the account, or of the large conversation, that this was a part of.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="parts",
                        to="conversations.erasure",
                    ),
                ),
                ("began_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "erased_at",
                    models.DateTimeField(blank=True, help_text="When the last row was gone.", null=True),
                ),
                (
                    "verified_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When every store was read back and nothing was found. Empty: not verified.",
                        null=True,
                    ),
                ),
                (
                    "counts",
                    models.JSONField(
                        blank=True, default=dict, help_text="What was erased, by store or table: how many."
                    ),
                ),
                (
                    "left",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="What the last look found still there, by store: how many, or the kind of exception.",
                    ),
                ),
                (
                    "looks",
                    models.PositiveIntegerField(default=0, help_text="How often the stores were looked at."),
                ),
                (
                    "next_look_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When a worker looks at the stores again; empty: there is no need to.",
                        null=True,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("next_look_at__isnull", False)),
                        fields=["next_look_at"],
                        name="erasure_unsettled",
                    ),
                    models.Index(models.OrderBy(models.F("began_at"), descending=True), name="erasure_by_time"),
                    django.contrib.postgres.indexes.GinIndex(fields=["conversations"], name="erasure_of_conversation"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "reason__in",
                                ["owner", "bin", "rule", "administrator", "account", "version", "replay"],
                            )
                        ),
                        name="erasure_reason_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("verified_at__isnull", True), ("erased_at__isnull", False), _connector="OR"
                        ),
                        name="erasure_is_verified_after_it_is_done",
                    ),
                ],
            },
        ),
    ]
