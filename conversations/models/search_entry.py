"""How a message is found when its owner searches all of their conversations."""

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models

from conversations.models.references import Reference


class SearchEntry(models.Model):
    """One row a message. It follows from the message's text, and may be thrown away and made again at any time.

    Each word carries its owner's number, so that the index leads to the rows of one person, however many there are.
    """

    message = models.OneToOneField(
        "conversations.Message",
        primary_key=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="search_entry",
    )
    conversation = models.ForeignKey(
        "conversations.Conversation",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="+",
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    said_at = models.DateTimeField(help_text="When the message was said: what was said last is shown first.")
    words = SearchVectorField()

    class Meta:
        verbose_name_plural = "search entries"
        constraints = [
            Reference(
                name="search_entry_goes_with_its_message",
                fields=("conversation", "message"),
                to="conversations.Message",
                to_fields=("conversation", "id"),
            ),
        ]
        indexes = [
            # Read by the search for a word that many messages have: the newest are looked through.
            models.Index("owner", models.F("said_at").desc(), models.F("message").desc(), name="search_entry_newest"),
            # Read by the database when messages are deleted.
            models.Index(fields=["conversation", "message"], name="search_entry_of_conversation"),
            # Read by the search for any other. Written at once: a list of what is pending would be read by each
            # search, and cleared by one unlucky question.
            GinIndex(fields=["words"], name="search_entry_words", fastupdate=False),
        ]

    def __str__(self) -> str:
        return str(self.message_id)
