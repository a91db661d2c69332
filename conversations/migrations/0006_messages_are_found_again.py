"""Messages are found again by their words and their meaning."""

import django.contrib.postgres.search
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models
from pgvector.django import HalfVectorField, VectorExtension

from conversations.models.references import Reference


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0005_token_estimates_are_calibrated"),
    ]

    operations = [
        VectorExtension(),
        migrations.CreateModel(
            name="Embedding",
            fields=[
                (
                    "message",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="embedding",
                        serialize=False,
                        to="conversations.message",
                    ),
                ),
                (
                    "embedder",
                    models.CharField(
                        help_text="Name and version: vectors of different ones cannot be compared.", max_length=200
                    ),
                ),
                ("vector", HalfVectorField(help_text="Of length 1, so that a product of two is their cosine.")),
                (
                    "language",
                    models.CharField(
                        help_text="PostgreSQL's name of the stemmer the words went through.", max_length=20
                    ),
                ),
                ("words", django.contrib.postgres.search.SearchVectorField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "conversation",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="embeddings",
                        to="conversations.conversation",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["conversation", "message"], name="embedding_of_conversation"),
                    models.Index(fields=["embedder"], name="embedding_embedder"),
                ],
                "constraints": [
                    Reference(
                        name="embedding_goes_with_its_message",
                        fields=("conversation", "message"),
                        to="conversations.Message",
                        to_fields=("conversation", "id"),
                    ),
                    Reference(
                        name="embedding_goes_with_its_conversation",
                        fields=("conversation",),
                        to="conversations.Conversation",
                        to_fields=("id",),
                    ),
                ],
            },
        ),
    ]
