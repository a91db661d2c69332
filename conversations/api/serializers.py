"""Rows as the API shows them, and what it accepts."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from conversations import branches
from conversations.context.record import CONTEXT_TRUNCATED, Record
from conversations.models import Conversation, Message, Turn
from conversations.models.conversation import REQUEST_KEY_CHARACTERS, TITLE_CHARACTERS, title_source_of
from conversations.outcomes import outcome_sentence
from conversations.prompts import check_system_prompt
from conversations.providers.registry import offered_models
from conversations.retention.keeping import check_temporary, keep
from conversations.text import clean, line
from conversations.transfer.incoming.formats import label_of
from conversations.tree import Children, siblings_of

SYSTEM_PROMPT_CHARACTERS = 100_000
"""Refused unread; beyond that its tokens count, see `check_system_prompt`."""


def with_title_source(fields: dict[str, Any]) -> dict[str, Any]:
    """A title that was typed is the owner's; taken away, one is found again."""
    if "title" not in fields:
        return fields
    return fields | {"title_source": title_source_of(fields["title"])}


class CleanCharField(serializers.CharField):
    """Text as it may be stored; what no database takes is mended, not refused."""

    def to_internal_value(self, data: Any) -> str:
        return clean(super().to_internal_value(data))


class LineField(serializers.CharField):
    """One line with something to see in it, or none."""

    def to_internal_value(self, data: Any) -> str:
        return line(super().to_internal_value(data))


class ModelField(serializers.CharField):
    """The name of a model this installation offers, or of the one it is anyway; empty: the installation's choice."""

    def to_internal_value(self, data: Any) -> str:
        name: str = super().to_internal_value(data)
        offered = offered_models()
        if name and name not in offered and name != getattr(self.parent.instance, "model", ""):
            raise serializers.ValidationError(f"This installation offers: {', '.join(offered)}.")
        return name


class ConversationSerializer(serializers.ModelSerializer[Conversation]):
    """A conversation without its messages."""

    title = LineField(max_length=TITLE_CHARACTERS, allow_blank=True, required=False)
    system_prompt = CleanCharField(max_length=SYSTEM_PROMPT_CHARACTERS, allow_blank=True, required=False)
    model = ModelField(
        allow_blank=True, required=False, help_text="One that the installation offers; empty: its own choice."
    )
    head = serializers.IntegerField(
        source="head_id",
        required=False,
        allow_null=True,
        help_text="Any message: its branch is opened where you were last, else at its newest message.",
    )

    restorable_until = serializers.SerializerMethodField(
        help_text="Of one in the bin: when it goes for good. Null outside of it."
    )
    temporary = serializers.BooleanField(
        required=False, help_text="Said when it is made: its life is that of temporary conversations."
    )
    kept = serializers.BooleanField(
        required=False, help_text="Spared from the rules, where they allow that; it is no longer temporary then."
    )
    ends_at = serializers.DateTimeField(
        read_only=True,
        allow_null=True,
        help_text="When rules end it, or its time in the bin is over, if nothing more happens in it; null: never.",
    )

    class Meta:
        model = Conversation
        fields = (
            "id",
            "title",
            "title_source",
            "system_prompt",
            "model",
            "head",
            "created_at",
            "last_activity_at",
            "pinned",
            "archived",
            "summarises",
            "temporary",
            "kept",
            "ends_at",
            "trashed_at",
            "restorable_until",
        )
        read_only_fields = ("id", "title_source", "created_at", "last_activity_at", "trashed_at")

    def get_restorable_until(self, conversation: Conversation) -> datetime | None:
        return conversation.ends_at if conversation.trashed_at else None

    def validate_temporary(self, temporary: bool) -> bool:  # DRF's signature
        """Raises `NoTemporaryOnes` where none can be begun."""
        if self.instance is not None:
            raise serializers.ValidationError("A conversation is temporary from its beginning, or not at all.")
        if temporary:
            check_temporary(self.context["request"].user)
        return temporary

    def validate_kept(self, kept: bool) -> bool:  # DRF's signature
        if self.instance is None:
            raise serializers.ValidationError("Begin it first, then keep it.")
        return kept

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A system prompt of its own, and the model that gets it, whichever of them is new.

        Raises:
            SystemPromptTooLong
        """
        if "system_prompt" in attrs or "model" in attrs:
            text, model = (attrs.get(name, getattr(self.instance, name, "")) for name in ("system_prompt", "model"))
            check_system_prompt(text, model=model)
        return attrs

    def validate_head(self, head: int | None) -> int:
        if head is None or self.instance is None:
            raise serializers.ValidationError("Name a message of this conversation.")
        return head

    def update(self, instance: Conversation, validated_data: dict[str, Any]) -> Conversation:
        """Only what was sent: a reply may be moving the head at this moment.

        Raises:
            Http404: the head is none of its messages.
            KeepingNotAllowed
        """
        changes = with_title_source(validated_data)
        if "kept" in changes:
            keep(instance, on=changes.pop("kept"))
        if "head_id" in changes:
            instance.head_id = branches.switch(instance.pk, changes.pop("head_id"))
        for name, value in changes.items():
            setattr(instance, name, value)
        instance.save(update_fields=list(changes))
        return instance


class SiblingsSerializer(serializers.Serializer[Any]):
    """Where a message stands among its versions."""

    position = serializers.IntegerField(help_text="From 1.")
    count = serializers.IntegerField()
    previous = serializers.IntegerField(allow_null=True)
    next = serializers.IntegerField(allow_null=True)


class MessageSerializer(serializers.ModelSerializer[Message]):
    """A message of the transcript; the context holds the `children` of its parent, and the ids that are `sent` next."""

    text = serializers.CharField(read_only=True)
    siblings = serializers.SerializerMethodField()
    in_context = serializers.SerializerMethodField(help_text="Whether the next request would hold it, word for word.")

    class Meta:
        model = Message
        fields = (
            "id",
            "turn",
            "parent",
            "role",
            "text",
            "content",
            "tokens",
            "tokens_source",
            "created_at",
            "siblings",
            "in_context",
        )
        read_only_fields = fields

    def get_in_context(self, message: Message) -> bool:
        return message.pk in self.context["sent"]

    @extend_schema_field(SiblingsSerializer)
    def get_siblings(self, message: Message) -> dict[str, int | None]:
        children: Children = self.context["children"]
        return asdict(siblings_of(message.pk, children[message.parent_id]))


class WarningSerializer(serializers.Serializer[Any]):
    """What the person who asked should know though the reply came."""

    code = serializers.CharField(help_text="`context_truncated`: the server read less than it was sent.")
    detail = serializers.CharField()


class TurnSerializer(serializers.ModelSerializer[Turn]):
    """The state of a turn."""

    error = serializers.SerializerMethodField()
    warning = serializers.SerializerMethodField()
    imported_from = serializers.SerializerMethodField(help_text="Where it was said; empty: it was asked here.")

    class Meta:
        model = Turn
        fields = (
            "id",
            "conversation",
            "prompt",
            "status",
            "error_code",
            "error",
            "was_cut_off",
            "model",
            "created_at",
            "started_at",
            "finished_at",
            "input_tokens",
            "output_tokens",
            "cached_tokens",
            "cost",
            "warning",
            "imported_from",
        )
        read_only_fields = fields

    @extend_schema_field(WarningSerializer(allow_null=True))
    def get_warning(self, turn: Turn) -> dict[str, str] | None:
        record = Record.from_json(turn.context)
        return {"code": CONTEXT_TRUNCATED, "detail": record.warning} if record and record.warning else None

    def get_imported_from(self, turn: Turn) -> str:
        return label_of(turn.source)

    def get_error(self, turn: Turn) -> str:
        return outcome_sentence(turn.status, turn.error_code, was_begun=turn.started_at is not None)


class NewTurnSerializer(serializers.Serializer[Any]):
    """A question, and the newest message its sender has seen; `branch` hangs it there whatever came after."""

    # No limit here: `checked_prompt` names the size and the limit.
    text = CleanCharField(trim_whitespace=False, allow_blank=True)
    parent = serializers.IntegerField(  # type: ignore[assignment]  # a field named as DRF names an attribute
        required=False, allow_null=True, default=None
    )
    branch = serializers.BooleanField(required=False, default=False)


class RegenerateSerializer(serializers.Serializer[Any]):
    """`model` answers this once; the conversation keeps its own."""

    model = ModelField(
        allow_blank=True,
        required=False,
        help_text="One that the installation offers, empty: its own choice. Left out: the conversation's.",
    )


class RequestKeySerializer(serializers.Serializer[Any]):
    """The `Idempotency-Key` header."""

    key = serializers.CharField(max_length=REQUEST_KEY_CHARACTERS)
