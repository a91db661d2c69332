"""The archive and the bin are as long as the list, and are read as fast."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0017_the_planner_keeps_no_content"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(
                models.F("owner"),
                models.F("archived"),
                models.OrderBy(models.F("pinned"), descending=True),
                models.OrderBy(models.F("last_activity_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("trashed_at__isnull", True)),
                name="conversation_list",
            ),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(
                models.F("owner"),
                models.OrderBy(models.F("trashed_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("trashed_at__isnull", False)),
                name="conversation_bin",
            ),
        ),
        migrations.RemoveIndex(model_name="conversation", name="conversation_sidebar"),
    ]
