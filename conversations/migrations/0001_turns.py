import uuid

import django.db.models.deletion
import django.db.models.lookups
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import conversations.models.message


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Conversation",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("title", models.CharField(blank=True, default="", max_length=200)),
                (
                    "title_source",
                    models.CharField(
                        choices=[
                            ("none", "no title yet"),
                            ("fallback", "first words"),
                            ("model", "a model"),
                            ("user", "the owner"),
                        ],
                        default="none",
                        max_length=8,
                    ),
                ),
                (
                    "request_key",
                    models.CharField(
                        help_text="Names the request that made it, so that a repetition finds it.", max_length=200
                    ),
                ),
                ("system_prompt", models.TextField(blank=True, default="", help_text="Empty: the installation's own.")),
                (
                    "model",
                    models.CharField(
                        blank=True, default="", help_text="Empty: the installation's own.", max_length=200
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "last_activity_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now,
                        help_text="Moves with messages only: renaming, pinning and reading do not count.",
                    ),
                ),
                ("pinned", models.BooleanField(default=False)),
                ("archived", models.BooleanField(default=False)),
                ("temporary", models.BooleanField(default=False)),
                ("trashed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "owner",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="conversations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "role",
                    models.CharField(
                        choices=[("system", "system"), ("user", "user"), ("assistant", "assistant"), ("tool", "tool")],
                        max_length=9,
                    ),
                ),
                ("content", models.JSONField(default=list)),
                ("tokens", models.PositiveIntegerField(default=0)),
                (
                    "tokens_source",
                    models.CharField(
                        choices=[("usage", "reported by the provider"), ("estimate", "estimated")],
                        default="estimate",
                        max_length=8,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "conversation",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="messages",
                        to="conversations.conversation",
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="children",
                        to="conversations.message",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="conversation",
            name="head",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="conversations.message",
            ),
        ),
        migrations.CreateModel(
            name="Turn",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("streaming", "streaming"),
                            ("complete", "complete"),
                            ("stopped", "stopped"),
                            ("failed", "failed"),
                            ("interrupted", "interrupted"),
                        ],
                        default="queued",
                        max_length=12,
                    ),
                ),
                ("request_key", models.CharField(max_length=200)),
                ("model", models.CharField(blank=True, default="", max_length=200)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("lease_until", models.DateTimeField(help_text="A live turn past this moment was abandoned.")),
                ("stop_requested_at", models.DateTimeField(blank=True, null=True)),
                ("input_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("output_tokens", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "cached_tokens",
                    models.PositiveIntegerField(blank=True, help_text="Part of the input tokens.", null=True),
                ),
                (
                    "cost",
                    models.DecimalField(
                        blank=True, decimal_places=8, help_text="US dollars.", max_digits=14, null=True
                    ),
                ),
                ("error_code", models.CharField(blank=True, default="", max_length=40)),
                ("was_cut_off", models.BooleanField(default=False, help_text="The reply ended at its token limit.")),
                (
                    "context",
                    models.JSONField(blank=True, help_text="What the model was sent: references, no text.", null=True),
                ),
                (
                    "conversation",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="turns",
                        to="conversations.conversation",
                    ),
                ),
                (
                    "prompt",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="turns_asked",
                        to="conversations.message",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ModelCall",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "purpose",
                    models.CharField(
                        choices=[
                            ("reply", "reply"),
                            ("title", "title"),
                            ("summary", "summary"),
                            ("embedding", "embedding"),
                        ],
                        max_length=9,
                    ),
                ),
                ("provider", models.CharField(max_length=60)),
                ("model", models.CharField(max_length=200)),
                ("input_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("output_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("cached_tokens", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "cost",
                    models.DecimalField(
                        blank=True, decimal_places=8, help_text="US dollars.", max_digits=14, null=True
                    ),
                ),
                ("first_token_ms", models.PositiveIntegerField(blank=True, null=True)),
                ("latency_ms", models.PositiveIntegerField()),
                ("outcome", models.CharField(help_text="`ok`, `stopped`, or the code of the error.", max_length=40)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "conversation",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="model_calls",
                        to="conversations.conversation",
                    ),
                ),
                (
                    "turn",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="model_calls",
                        to="conversations.turn",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="message",
            name="turn",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="messages",
                to="conversations.turn",
            ),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(
                models.F("owner"),
                models.OrderBy(models.F("pinned"), descending=True),
                models.OrderBy(models.F("last_activity_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("trashed_at__isnull", True)),
                name="conversation_sidebar",
            ),
        ),
        migrations.AddConstraint(
            model_name="conversation",
            constraint=models.UniqueConstraint(
                fields=("owner", "request_key"), name="one_conversation_per_owner_and_request_key"
            ),
        ),
        migrations.AddConstraint(
            model_name="conversation",
            constraint=models.CheckConstraint(
                condition=models.Q(("title_source__in", ["none", "fallback", "model", "user"])),
                name="conversation_title_source_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="conversation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("title", ""), ("title_source", "none")),
                    models.Q(models.Q(("title", ""), _negated=True), models.Q(("title_source", "none"), _negated=True)),
                    _connector="OR",
                ),
                name="conversation_has_a_title_exactly_when_it_has_a_source",
            ),
        ),
        migrations.AddIndex(
            model_name="turn",
            index=models.Index(
                condition=models.Q(("status__in", ("queued", "streaming"))), fields=["lease_until"], name="turn_live"
            ),
        ),
        migrations.AddConstraint(
            model_name="turn",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status__in", ("queued", "streaming"))),
                fields=("conversation",),
                name="one_live_turn_per_conversation",
            ),
        ),
        migrations.AddConstraint(
            model_name="turn",
            constraint=models.UniqueConstraint(
                fields=("conversation", "request_key"), name="one_turn_per_conversation_and_request_key"
            ),
        ),
        migrations.AddConstraint(
            model_name="turn",
            constraint=models.UniqueConstraint(fields=("conversation", "id"), name="turn_is_known_by_its_conversation"),
        ),
        migrations.AddConstraint(
            model_name="turn",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("status__in", ["queued", "streaming", "complete", "stopped", "failed", "interrupted"])
                ),
                name="turn_status_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="turn",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("finished_at__isnull", False), ("status__in", ("complete", "stopped", "failed", "interrupted"))
                    ),
                    models.Q(("finished_at__isnull", True), ("status__in", ("queued", "streaming"))),
                    _connector="OR",
                ),
                name="turn_is_finished_exactly_when_its_status_is_terminal",
            ),
        ),
        migrations.AddConstraint(
            model_name="turn",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("status", "failed"), models.Q(("error_code", ""), _negated=True)),
                    models.Q(models.Q(("status", "failed"), _negated=True), ("error_code", "")),
                    _connector="OR",
                ),
                name="turn_says_why_exactly_when_it_failed",
            ),
        ),
        migrations.AddConstraint(
            model_name="modelcall",
            constraint=models.CheckConstraint(
                condition=models.Q(("purpose__in", ["reply", "title", "summary", "embedding"])),
                name="model_call_purpose_is_known",
            ),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(fields=["conversation", "parent"], name="message_children"),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.UniqueConstraint(
                fields=("conversation", "id"), name="message_is_known_by_its_conversation"
            ),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.CheckConstraint(
                condition=models.Q(("role__in", ["system", "user", "assistant", "tool"])), name="message_role_is_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.CheckConstraint(
                condition=models.Q(("tokens_source__in", ["usage", "estimate"])), name="message_tokens_source_is_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.CheckConstraint(
                condition=models.Q(("parent__lt", models.F("id"))), name="message_parent_is_older"
            ),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.Exact(
                    conversations.models.message.JsonType(models.F("content")), models.Value("array")
                ),
                name="message_content_is_a_list",
            ),
        ),
    ]
