"""A conversation may be kept by its owner, and the purge finds what is over."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0021_everything_of_a_person_as_a_file"),
    ]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="kept",
            field=models.BooleanField(
                default=False, help_text="Its owner keeps it: no rule deletes it where people may keep conversations."
            ),
        ),
        migrations.AlterField(
            model_name="conversation",
            name="temporary",
            field=models.BooleanField(default=False, help_text="Its life is that of temporary conversations."),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(fields=["owner", "last_activity_at"], name="conversation_idle"),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(fields=["owner", "created_at"], name="conversation_age"),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(
                condition=models.Q(("temporary", True)),
                fields=["owner", "last_activity_at"],
                name="conversation_temporary",
            ),
        ),
        migrations.AddConstraint(
            model_name="conversation",
            constraint=models.CheckConstraint(
                condition=models.Q(("kept", True), ("temporary", True), _negated=True),
                name="conversation_is_not_both_temporary_and_kept",
            ),
        ),
    ]
