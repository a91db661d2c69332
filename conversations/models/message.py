"""A message: one row of the transcript, a node of the conversation's tree."""

from django.db import models
from django.db.models import F, Func, Q, Value
from django.db.models.lookups import Exact
from django.utils import timezone

from conversations.blocks import text_in
from conversations.models.references import Reference
from conversations.querysets import MessageQuerySet


class JsonType(Func):
    """`jsonb_typeof`: what kind of JSON value a column holds."""

    function = "jsonb_typeof"
    output_field = models.TextField()


class Message(models.Model):
    """`content` is a list of blocks, each a JSON object with a `type`: text, image, tool_use, tool_result, thinking.

    Ids only grow, so a branch is in order by id and no clock is asked.
    """

    class Role(models.TextChoices):
        SYSTEM = "system", "system"
        USER = "user", "user"
        ASSISTANT = "assistant", "assistant"
        TOOL = "tool", "tool"

    class TokensSource(models.TextChoices):
        USAGE = "usage", "reported by the provider"
        ESTIMATE = "estimate", "estimated"

    id = models.BigAutoField(primary_key=True)
    conversation = models.ForeignKey(
        "conversations.Conversation",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="messages",
    )
    turn = models.ForeignKey(
        "conversations.Turn", on_delete=models.DO_NOTHING, db_constraint=False, related_name="messages"
    )
    parent = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="children",
    )
    resume_at = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="+",
        help_text="Where the owner was below this message when they left for another version.",
    )
    role = models.CharField(max_length=9, choices=Role.choices)
    content = models.JSONField(default=list)
    tokens = models.PositiveIntegerField(default=0)
    tokens_source = models.CharField(max_length=8, choices=TokensSource.choices, default=TokensSource.ESTIMATE)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = MessageQuerySet.as_manager()

    class Meta:
        constraints = [
            # The other half of every reference that says "in the same conversation".
            models.UniqueConstraint(name="message_is_known_by_its_conversation", fields=["conversation", "id"]),
            models.CheckConstraint(
                name="message_role_is_known", condition=Q(role__in=["system", "user", "assistant", "tool"])
            ),
            models.CheckConstraint(
                name="message_tokens_source_is_known", condition=Q(tokens_source__in=["usage", "estimate"])
            ),
            models.CheckConstraint(name="message_parent_is_older", condition=Q(parent__lt=F("id"))),
            models.CheckConstraint(name="message_resumes_at_itself_or_below", condition=Q(resume_at__gte=F("id"))),
            models.CheckConstraint(
                name="message_content_is_a_list", condition=Exact(JsonType(F("content")), Value("array"))
            ),
            Reference(
                name="message_goes_with_its_conversation",
                fields=("conversation",),
                to="conversations.Conversation",
                to_fields=("id",),
            ),
            Reference(
                name="message_turn_is_in_the_same_conversation",
                fields=("conversation", "turn"),
                to="conversations.Turn",
                to_fields=("conversation", "id"),
            ),
            Reference(
                name="message_parent_is_in_the_same_conversation",
                fields=("conversation", "parent"),
                to="conversations.Message",
                to_fields=("conversation", "id"),
            ),
            Reference(
                name="message_resumes_in_the_same_conversation",
                fields=("conversation", "resume_at"),
                to="conversations.Message",
                to_fields=("conversation", "id"),
                on_delete="SET NULL (resume_at_id)",
            ),
        ]
        indexes = [
            # Read for the siblings of a message, and by the database when a parent is deleted.
            models.Index(fields=["conversation", "parent"], name="message_children"),
            # Read by the database when a message is deleted: who remembers it?
            models.Index(
                fields=["conversation", "resume_at"], name="message_resumed_at", condition=Q(resume_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def text(self) -> str:
        """The words of the text blocks."""
        return text_in(self.content)
