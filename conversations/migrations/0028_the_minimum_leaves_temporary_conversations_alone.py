"""What the admin says of the minimum: temporary conversations have a life of their own."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0027_conversations_are_brought_in"),
    ]

    operations = [
        migrations.AlterField(
            model_name="retentionrule",
            name="least_days",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="The minimum: no rule, and nobody’s own choice, deletes a conversation that is not a temporary one "
                "sooner than so many days.",
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(36500),
                ],
            ),
        ),
    ]
