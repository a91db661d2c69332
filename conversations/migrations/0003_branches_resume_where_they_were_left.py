"""Where the owner was below a message when they left it for another version."""

import django.db.models.deletion
from django.db import migrations, models

import conversations.models.references


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0002_references"),
    ]

    operations = [
        migrations.AddField(
            model_name="message",
            name="resume_at",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                db_index=False,
                help_text="Where the owner was below this message when they left for another version.",
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="conversations.message",
            ),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                condition=models.Q(("resume_at__isnull", False)),
                fields=["conversation", "resume_at"],
                name="message_resumed_at",
            ),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.CheckConstraint(
                condition=models.Q(("resume_at__gte", models.F("id"))), name="message_resumes_at_itself_or_below"
            ),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=conversations.models.references.Reference(
                fields=("conversation", "resume_at"),
                name="message_resumes_in_the_same_conversation",
                on_delete="SET NULL (resume_at_id)",
                to="conversations.Message",
                to_fields=("conversation", "id"),
            ),
        ),
    ]
