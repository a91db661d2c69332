"""How long conversations are kept, by whose rule, and who changed which."""

import django.core.serializers.json
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_user"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("conversations", "0022_conversations_are_temporary_or_kept"),
    ]

    operations = [
        migrations.CreateModel(
            name="RetentionChange",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "what",
                    models.CharField(
                        choices=[
                            ("rule_made", "rule made"),
                            ("rule_changed", "rule changed"),
                            ("rule_removed", "rule removed"),
                            ("hold_placed", "hold placed"),
                            ("hold_lifted", "hold lifted"),
                        ],
                        max_length=12,
                    ),
                ),
                ("scope", models.CharField(blank=True, default="", help_text="Of a rule.", max_length=8)),
                ("group", models.CharField(blank=True, default="", help_text="The name it had.", max_length=150)),
                ("conversation_id", models.UUIDField(help_text="Of a hold.", null=True)),
                (
                    "before",
                    models.JSONField(
                        default=dict,
                        encoder=django.core.serializers.json.DjangoJSONEncoder,
                        help_text="What the rule said.",
                    ),
                ),
                (
                    "after",
                    models.JSONField(
                        default=dict,
                        encoder=django.core.serializers.json.DjangoJSONEncoder,
                        help_text="What the rule says.",
                    ),
                ),
                (
                    "due",
                    models.JSONField(
                        default=dict, help_text="What was due for deletion under it when it was confirmed."
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RetentionRule",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "scope",
                    models.CharField(
                        choices=[
                            ("everyone", "everyone"),
                            ("group", "a group"),
                            ("user", "one user"),
                            ("own", "one’s own choice"),
                        ],
                        max_length=8,
                        verbose_name="for",
                    ),
                ),
                (
                    "idle_days",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Days after its last message after which a conversation is deleted.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(36500),
                        ],
                    ),
                ),
                (
                    "age_days",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Days after its beginning after which a conversation is deleted, whatever happens in it.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(36500),
                        ],
                    ),
                ),
                (
                    "forever",
                    models.BooleanField(
                        default=False,
                        help_text="Neither of the two, whatever wider rules say: conversations are not deleted by rule.",
                        verbose_name="for ever",
                    ),
                ),
                (
                    "temporary_hours",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Hours after its last message after which a temporary conversation is deleted. Without, none are offered.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(876000),
                        ],
                    ),
                ),
                (
                    "bin_days",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Days that what people delete stays in the bin; 0: it is gone at once. 30 where no rule says.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(36500),
                        ],
                    ),
                ),
                (
                    "may_keep",
                    models.BooleanField(
                        blank=True,
                        help_text="Whether people may keep single conversations, which are then not deleted by rule.",
                        null=True,
                    ),
                ),
                (
                    "trace_days",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Days that the figures of calls to models are kept: their times, tokens and cost.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(36500),
                        ],
                    ),
                ),
                (
                    "log_days",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Days that log lines are kept.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(36500),
                        ],
                    ),
                ),
                (
                    "least_days",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="The minimum: no rule, and nobody’s own choice, deletes a conversation sooner than so many days.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(36500),
                        ],
                    ),
                ),
                (
                    "most_days",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="The maximum: without a message for so many days a conversation is deleted whatever other rules say, unless it is held, or kept by somebody who may.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(36500),
                        ],
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="retentionchange",
            name="by",
            field=models.ForeignKey(
                help_text="Empty: a command, or somebody whose account is closed.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="retentionchange",
            name="user",
            field=models.ForeignKey(
                help_text="Whom it is about.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="retentionrule",
            name="group",
            field=models.ForeignKey(
                blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="auth.group"
            ),
        ),
        migrations.AddField(
            model_name="retentionrule",
            name="user",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="retention_rules",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddIndex(
            model_name="retentionchange",
            index=models.Index(models.OrderBy(models.F("at"), descending=True), name="retention_change_newest"),
        ),
        migrations.AddConstraint(
            model_name="retentionchange",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("what__in", ["rule_made", "rule_changed", "rule_removed", "hold_placed", "hold_lifted"])
                ),
                name="retention_change_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionrule",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("group__isnull", True), ("scope", "everyone"), ("user__isnull", True)),
                    models.Q(("group__isnull", False), ("scope", "group"), ("user__isnull", True)),
                    models.Q(("group__isnull", True), ("scope__in", ["user", "own"]), ("user__isnull", False)),
                    _connector="OR",
                ),
                name="rule_names_whom_it_is_for",
                violation_error_message="Name the group, or the user, that the rule is for, and nobody else.",
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionrule",
            constraint=models.UniqueConstraint(
                condition=models.Q(("scope", "everyone")),
                fields=("scope",),
                name="one_rule_for_everyone",
                violation_error_message="There is a rule for everyone already: change that one.",
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionrule",
            constraint=models.UniqueConstraint(
                condition=models.Q(("scope", "group")),
                fields=("group",),
                name="one_rule_a_group",
                violation_error_message="There is a rule for this group already: change that one.",
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionrule",
            constraint=models.UniqueConstraint(
                condition=models.Q(("scope__in", ["user", "own"])),
                fields=("user", "scope"),
                name="one_rule_a_user_and_one_of_their_own",
                violation_error_message="There is a rule for this user already: change that one.",
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionrule",
            constraint=models.CheckConstraint(
                condition=models.Q(("idle_days__gte", 1), ("idle_days__lte", 36500)), name="rule_idle_days_is_possible"
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionrule",
            constraint=models.CheckConstraint(
                condition=models.Q(("age_days__gte", 1), ("age_days__lte", 36500)), name="rule_age_days_is_possible"
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionrule",
            constraint=models.CheckConstraint(
                condition=models.Q(("temporary_hours__gte", 1), ("temporary_hours__lte", 876000)),
                name="rule_temporary_hours_is_possible",
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionrule",
            constraint=models.CheckConstraint(
                condition=models.Q(("bin_days__gte", 0), ("bin_days__lte", 36500)), name="rule_bin_days_is_possible"
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionrule",
            constraint=models.CheckConstraint(
                condition=models.Q(("trace_days__gte", 1), ("trace_days__lte", 36500)),
                name="rule_trace_days_is_possible",
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionrule",
            constraint=models.CheckConstraint(
                condition=models.Q(("log_days__gte", 1), ("log_days__lte", 36500)), name="rule_log_days_is_possible"
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionrule",
            constraint=models.CheckConstraint(
                condition=models.Q(("least_days__gte", 1), ("least_days__lte", 36500)),
                name="rule_least_days_is_possible",
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionrule",
            constraint=models.CheckConstraint(
                condition=models.Q(("most_days__gte", 1), ("most_days__lte", 36500)), name="rule_most_days_is_possible"
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionrule",
            constraint=models.CheckConstraint(
                condition=models.Q(("least_days__lte", models.F("most_days"))),
                name="rule_minimum_is_no_more_than_its_maximum",
                violation_error_message="The minimum must not be more than the maximum.",
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionrule",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("forever", False),
                    models.Q(("age_days__isnull", True), ("idle_days__isnull", True)),
                    _connector="OR",
                ),
                name="rule_for_ever_names_no_days",
                violation_error_message="Name days after which conversations are deleted, or say for ever, not both.",
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionrule",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("scope", "everyone"),
                    models.Q(
                        ("least_days__isnull", True),
                        ("log_days__isnull", True),
                        ("most_days__isnull", True),
                        ("trace_days__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="rule_for_everyone_alone_speaks_of_the_installation",
                violation_error_message="Traces, log lines, minimum and maximum are the same for everyone: say them in the rule for everyone.",
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionrule",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("scope", "own"), _negated=True),
                    models.Q(("forever", False), ("may_keep__isnull", True)),
                    _connector="OR",
                ),
                name="rule_of_ones_own_only_shortens",
            ),
        ),
    ]
