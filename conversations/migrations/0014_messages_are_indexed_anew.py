"""The index of recall knows which version of the product cut a message's words: older ones are cut anew."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0013_the_plural_of_summary"),
    ]

    operations = [
        migrations.AddField(
            model_name="embedding",
            name="version",
            field=models.PositiveSmallIntegerField(default=1, help_text="Of how its words were cut."),
        ),
        migrations.AddIndex(
            model_name="embedding",
            index=models.Index(
                fields=["conversation"],
                name="embedding_of_older_version",
                condition=models.Q(version__lt=2),
            ),
        ),
    ]
