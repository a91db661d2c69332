"""How a message is found again: its words and its meaning."""

from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Q
from django.utils import timezone
from pgvector.django import HalfVectorField

from conversations.models.references import Reference

EMBEDDER_CHARACTERS = 200

VERSION = 2
"""Of how words are cut (`recall.words`). Raise it when they are cut otherwise, with a migration that moves the index
`embedding_of_older_version`: then what was written before is written again."""


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
    version = models.PositiveSmallIntegerField(default=1, help_text="Of how its words were cut.")
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
            # Read by the task that renews what an older version wrote; mostly empty.
            models.Index(fields=["conversation"], name="embedding_of_older_version", condition=Q(version__lt=VERSION)),
        ]

    def __str__(self) -> str:
        return str(self.message_id)
