"""What is held is erased by nobody."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import conversations.models.references


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0014_messages_are_indexed_anew"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Hold",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("reason", models.CharField(help_text="A matter, a file number: who asked for it.", max_length=500)),
                ("since", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("lifted_at", models.DateTimeField(editable=False, null=True)),
                (
                    "conversation",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        help_text="This conversation alone is held: its id, as it stands in its address.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="holds",
                        to="conversations.conversation",
                    ),
                ),
                (
                    "lifted_by",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "placed_by",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        help_text="Everything of this person is held.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="holds",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("lifted_at__isnull", True)), fields=["conversation"], name="hold_lasting"
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("conversation__isnull", True), ("user__isnull", False)),
                            models.Q(("conversation__isnull", False), ("user__isnull", True)),
                            _connector="OR",
                        ),
                        name="hold_is_on_a_user_or_on_a_conversation",
                    ),
                    models.CheckConstraint(condition=models.Q(("reason", ""), _negated=True), name="hold_has_a_reason"),
                    models.CheckConstraint(
                        condition=models.Q(("lifted_at__gte", models.F("since"))),
                        name="hold_is_lifted_after_it_was_placed",
                    ),
                    conversations.models.references.Reference(
                        fields=("conversation",),
                        name="hold_goes_with_its_conversation",
                        on_delete="CASCADE",
                        to="conversations.Conversation",
                        to_fields=("id",),
                    ),
                ],
            },
        ),
    ]
