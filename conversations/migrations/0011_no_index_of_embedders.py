"""No query looks for rows by their embedder alone."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0010_turns_and_calls_are_found_by_time"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="embedding", name="embedding_embedder"),
    ]
