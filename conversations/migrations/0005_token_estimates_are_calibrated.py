"""What providers reported makes the next estimates of the same model better."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0004_recurring_tasks_tell_what_they_did"),
    ]

    operations = [
        migrations.CreateModel(
            name="TokenScale",
            fields=[
                ("model", models.CharField(max_length=200, primary_key=True, serialize=False)),
                ("requests", models.PositiveBigIntegerField(default=0, help_text="Requests that were compared.")),
                ("xx", models.FloatField(default=0)),
                ("xm", models.FloatField(default=0)),
                ("mm", models.FloatField(default=0)),
                ("xy", models.FloatField(default=0)),
                ("my", models.FloatField(default=0)),
                ("tools_estimated", models.FloatField(default=0)),
                ("tools_reported", models.FloatField(default=0)),
                (
                    "recent",
                    models.JSONField(
                        default=list,
                        help_text="Of the last requests: our count divided by the provider's, and the same without these factors.",
                    ),
                ),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("model", ""), _negated=True), name="token_scale_names_a_model"
                    )
                ],
            },
        ),
    ]
