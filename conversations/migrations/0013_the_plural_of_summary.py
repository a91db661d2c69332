"""The admin's name for more than one summary."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0012_a_message_may_be_found_by_its_words_alone"),
    ]

    operations = [
        migrations.AlterModelOptions(name="summary", options={"verbose_name_plural": "summaries"}),
    ]
