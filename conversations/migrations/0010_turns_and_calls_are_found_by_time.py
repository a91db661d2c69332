"""The newest turn with a context, and the newest turns and calls of all, without looking at the others."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0009_a_repeated_request_is_known_by_its_digest"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="turn",
            index=models.Index(
                condition=models.Q(("context__isnull", False)),
                fields=["conversation", "model", "-created_at"],
                name="turn_with_context",
            ),
        ),
        migrations.AddIndex(
            model_name="turn",
            index=models.Index(fields=["-created_at"], name="turn_by_time"),
        ),
        migrations.AddIndex(
            model_name="modelcall",
            index=models.Index(fields=["-created_at"], name="model_call_by_time"),
        ),
    ]
