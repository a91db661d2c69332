"""How a message is found again: its words and its meaning."""

from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.utils import timezone
from pgvector.django import HalfVectorField

from conversations.models.references import Reference

EMBEDDER_CHARACTERS = 200


class Embedding(models.Model):
    """One row a message. It follows from the message's text, and may be thrown away and made again at any time."""

    message = models.OneToOneField(
        "conversations.Message",
        primary_key=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="embedding",
    )
    conversation = models.ForeignKey(
        "conversations.Conversation",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="embeddings",
    )
    embedder = models.CharField(
        max_length=EMBEDDER_CHARACTERS, help_text="Name and version: vectors of different ones cannot be compared."
    )
    vector = HalfVectorField(
        null=True,
        help_text="Of length 1, so that a product of two is their cosine. Null: the embedder refuses the message.",
    )
    language = models.CharField(max_length=20, help_text="PostgreSQL's name of the stemmer the words went through.")
    words = SearchVectorField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
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
        ]
        indexes = [
            # Read by recall, which looks at all messages of one conversation; and by the database when they are
            # deleted.
            models.Index(fields=["conversation", "message"], name="embedding_of_conversation"),
        ]

    def __str__(self) -> str:
        return str(self.message_id)
