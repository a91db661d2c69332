"""What the sweep and the tasks like it did, for the admin."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0003_branches_resume_where_they_were_left"),
    ]

    operations = [
        migrations.CreateModel(
            name="TaskRun",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("task", models.CharField(max_length=60)),
                ("started_at", models.DateTimeField(help_text="Of the last run, where the row tells of several.")),
                ("finished_at", models.DateTimeField()),
                ("did", models.JSONField(default=dict, help_text="What was done, by kind: how many.")),
                (
                    "error",
                    models.CharField(
                        blank=True, default="", help_text="The kind of exception that ended it.", max_length=100
                    ),
                ),
                ("is_idle", models.BooleanField(default=False)),
                ("runs", models.PositiveBigIntegerField(default=1, help_text="How many runs the row tells of.")),
            ],
            options={
                "indexes": [
                    models.Index(models.OrderBy(models.F("finished_at"), descending=True), name="task_run_newest")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("is_idle", True)),
                        fields=("task",),
                        name="idle_runs_of_a_task_share_one_row",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("finished_at__gte", models.F("started_at"))),
                        name="task_run_ends_after_it_began",
                    ),
                ],
            },
        ),
    ]
