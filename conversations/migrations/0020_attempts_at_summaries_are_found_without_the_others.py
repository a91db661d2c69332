"""Calls for summaries of one conversation, and the turns that ended since, without looking at the others."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0019_messages_are_searched"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="modelcall",
            index=models.Index(
                condition=models.Q(("purpose", "summary")),
                fields=["conversation", "-created_at"],
                name="model_call_summaries",
            ),
        ),
        migrations.AddIndex(
            model_name="turn",
            index=models.Index(
                condition=models.Q(("finished_at__isnull", False)),
                fields=["conversation", "-finished_at"],
                name="turn_ended",
            ),
        ),
    ]
