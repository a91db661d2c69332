"""Whether a request for a conversation is the one that made it is told by a digest, whatever was changed since."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0008_embeddings_are_read_whole"),
    ]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="request_digest",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Of what that request asked for; empty: it asked a question.",
                max_length=16,
            ),
        ),
    ]
