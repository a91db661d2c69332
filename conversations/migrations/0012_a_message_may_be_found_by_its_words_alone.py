"""A message that the embedder refuses is in the index all the same, without a vector."""

from django.db import migrations
from pgvector.django import HalfVectorField


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0011_no_index_of_embedders"),
    ]

    operations = [
        migrations.AlterField(
            model_name="embedding",
            name="vector",
            field=HalfVectorField(
                help_text="Of length 1, so that a product of two is their cosine. Null: the embedder refuses the message.",
                null=True,
            ),
        ),
    ]
