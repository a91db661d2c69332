"""A text that stands for the beginning of a branch, where that no longer fits into a request."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from conversations.models.references import Reference


class Summary(models.Model):
    """A version of it, up to and including `through_message`; of several with the same one the newest counts.

    Versions do not change, so that the record of an old reply can show what was really sent: a correction is
    another version. A blank one says that nothing stands for these messages, since the owner removed what did; the
    earlier ones have lost their words then, too.
    """

    class Source(models.TextChoices):
        MODEL = "model", "a model"
        USER = "user", "the owner"

    id = models.BigAutoField(primary_key=True)
    conversation = models.ForeignKey(
        "conversations.Conversation",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="summaries",
    )
    through_message = models.ForeignKey(
        "conversations.Message",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="summaries",
        help_text="The newest message it stands for.",
    )
    text = models.TextField(blank=True)
    tokens = models.PositiveIntegerField(help_text="By our count.")
    source = models.CharField(max_length=5, choices=Source.choices)
    model = models.CharField(max_length=200, blank=True, default="", help_text="That wrote it; empty: its owner did.")
    follows = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="followed_by",
        help_text="The version it was written from.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "summaries"
        constraints = [
            # The other half of the reference to the version before.
            models.UniqueConstraint(name="summary_is_known_by_its_conversation", fields=["conversation", "id"]),
            models.CheckConstraint(name="summary_source_is_known", condition=Q(source__in=["model", "user"])),
            models.CheckConstraint(
                name="summary_names_a_model_exactly_when_one_wrote_it",
                condition=(Q(source="model") & ~Q(model="")) | Q(source="user", model=""),
            ),
            models.CheckConstraint(name="summary_follows_an_older_one", condition=Q(follows__lt=F("id"))),
            Reference(
                name="summary_goes_with_its_conversation",
                fields=("conversation",),
                to="conversations.Conversation",
                to_fields=("id",),
            ),
            Reference(
                name="summary_goes_with_the_newest_message_it_stands_for",
                fields=("conversation", "through_message"),
                to="conversations.Message",
                to_fields=("conversation", "id"),
            ),
            Reference(
                name="summary_follows_one_of_the_same_conversation",
                fields=("conversation", "follows"),
                to="conversations.Summary",
                to_fields=("conversation", "id"),
                on_delete="SET NULL (follows_id)",
            ),
        ]
        indexes = [
            # Read with every request that leaves something out, and by the database when a message is deleted.
            models.Index(fields=["conversation", "through_message", "-id"], name="summary_through"),
            # Read by the database when a version is deleted: what was written from it?
            models.Index(
                fields=["conversation", "follows"], name="summary_followed", condition=Q(follows__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def is_removed(self) -> bool:
        """Nothing stands for these messages any more."""
        return not self.text
