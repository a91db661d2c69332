"""Summaries stand for the beginning of a branch, where that no longer fits, unless the owner wants none."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

from conversations.models.references import Reference


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0006_messages_are_found_again"),
    ]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="summarises",
            field=models.BooleanField(
                default=True,
                help_text="Whether a summary stands for what no longer fits; none is made or sent otherwise.",
            ),
        ),
        migrations.CreateModel(
            name="Summary",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("text", models.TextField(blank=True)),
                ("tokens", models.PositiveIntegerField(help_text="By our count.")),
                ("source", models.CharField(choices=[("model", "a model"), ("user", "the owner")], max_length=5)),
                (
                    "model",
                    models.CharField(
                        blank=True, default="", help_text="That wrote it; empty: its owner did.", max_length=200
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "conversation",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="summaries",
                        to="conversations.conversation",
                    ),
                ),
                (
                    "follows",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        help_text="The version it was written from.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="followed_by",
                        to="conversations.summary",
                    ),
                ),
                (
                    "through_message",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        help_text="The newest message it stands for.",
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="summaries",
                        to="conversations.message",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["conversation", "through_message", "-id"], name="summary_through"),
                    models.Index(
                        condition=models.Q(("follows__isnull", False)),
                        fields=["conversation", "follows"],
                        name="summary_followed",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("conversation", "id"), name="summary_is_known_by_its_conversation"),
                    models.CheckConstraint(
                        condition=models.Q(("source__in", ["model", "user"])), name="summary_source_is_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("source", "model"), models.Q(("model", ""), _negated=True)),
                            models.Q(("model", ""), ("source", "user")),
                            _connector="OR",
                        ),
                        name="summary_names_a_model_exactly_when_one_wrote_it",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("follows__lt", models.F("id"))), name="summary_follows_an_older_one"
                    ),
                    Reference(
                        fields=("conversation",),
                        name="summary_goes_with_its_conversation",
                        on_delete="CASCADE",
                        to="conversations.Conversation",
                        to_fields=("id",),
                    ),
                    Reference(
                        fields=("conversation", "through_message"),
                        name="summary_goes_with_the_newest_message_it_stands_for",
                        on_delete="CASCADE",
                        to="conversations.Message",
                        to_fields=("conversation", "id"),
                    ),
                    Reference(
                        fields=("conversation", "follows"),
                        name="summary_follows_one_of_the_same_conversation",
                        on_delete="SET NULL (follows_id)",
                        to="conversations.Summary",
                        to_fields=("conversation", "id"),
                    ),
                ],
            },
        ),
    ]
