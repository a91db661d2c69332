"""What a model was sent for a reply, and what it would be sent with a question: ids and sizes, no text."""

from typing import Any, get_args
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from conversations import access, meaning
from conversations.api.serializers import CleanCharField, ModelField
from conversations.context.record import REASONS, LeftOut, SectionName
from conversations.outlook import UNSENT, Outlook, next_context, recorded_context


class SectionSerializer(serializers.Serializer[Any]):
    """A part of the request, in the order in which they are sent."""

    name = serializers.ChoiceField(get_args(SectionName))
    tokens = serializers.IntegerField()


class LeftOutSerializer(serializers.Serializer[Any]):
    """Messages that are not sent, oldest first, and why."""

    ids = serializers.ListField(child=serializers.IntegerField())
    and_before = serializers.BooleanField(help_text="So is everything before the first of them.")
    reason = serializers.ChoiceField(list(REASONS))
    sentence = serializers.SerializerMethodField(help_text="The reason in words.")

    def get_sentence(self, span: LeftOut) -> str:
        return REASONS.get(span.reason, "")


class RecalledSerializer(serializers.Serializer[Any]):
    """An older turn that is brought back because it matches the question."""

    ids = serializers.ListField(child=serializers.IntegerField())
    score = serializers.FloatField()


class ContextSerializer(serializers.Serializer[Any]):
    """One request to a model. Sizes are tokens by our count."""

    turn = serializers.UUIDField(
        source="turn.pk", allow_null=True, default=None, help_text="Null: nothing is sent yet."
    )
    model = serializers.CharField()
    tokens = serializers.IntegerField(source="record.tokens", help_text="The whole request.")
    sections = SectionSerializer(many=True, source="record.sections")
    sent = serializers.SerializerMethodField(
        help_text="Messages sent word for word, oldest first; of a question that was sent it is the last."
    )
    start = serializers.SerializerMethodField(
        help_text="The message the window begins with; null: no earlier turn is sent with the question."
    )
    left_out = LeftOutSerializer(many=True, source="record.left_out")
    summary = serializers.IntegerField(
        source="record.summary", allow_null=True, help_text="The summary sent for what lies before the window."
    )
    summarised_through = serializers.IntegerField(
        source="record.summarised_through", allow_null=True, help_text="The newest message it stands for."
    )
    recalled = RecalledSerializer(many=True, source="record.recalled")
    tools = serializers.ListField(source="record.tools", child=serializers.CharField())
    was_cut = serializers.BooleanField(
        source="record.was_cut", help_text="The window begins later than that of the request before."
    )
    was_tightened = serializers.BooleanField(
        source="record.was_tightened", help_text="The provider found the request too long; this one is smaller."
    )
    shortened = serializers.IntegerField(source="record.shortened", help_text="Results of tools that were shortened.")
    images_left_out = serializers.IntegerField(source="record.images_left_out")
    window = serializers.IntegerField(source="record.window", help_text="What the model takes, with its reply.")
    reply = serializers.IntegerField(source="record.reply", help_text="Kept free for the reply.")
    history = serializers.IntegerField(source="record.history", help_text="Room there is for earlier turns.")
    reported = serializers.IntegerField(
        source="record.reported", allow_null=True, help_text="The request as the provider counted it, once it has."
    )
    truncated = serializers.BooleanField(
        source="record.truncated", help_text="The provider read clearly less than it was sent."
    )
    warning = serializers.CharField(source="record.warning", help_text="That in a sentence; empty when all is well.")

    def get_sent(self, outlook: Outlook) -> list[int]:
        return [pk for pk in outlook.record.sent if pk != UNSENT]

    def get_start(self, outlook: Outlook) -> int | None:
        return outlook.record.start or None


class ContextQuery(serializers.Serializer[Any]):
    """What one asks of the context of a conversation, which is the instance."""

    prompt = CleanCharField(required=False, allow_blank=True, default="", trim_whitespace=False)
    model = ModelField(required=False, allow_blank=True, default="")


class TurnContext(APIView):
    """What the model was sent for this reply, by reference; while tools are called, its newest request."""

    @extend_schema(responses=ContextSerializer)
    def get(self, request: Request, turn_id: UUID) -> Response:
        outlook = recorded_context(access.turn_of(request.user, turn_id))
        if outlook is None:
            raise Http404("Nothing was sent to the model for this reply.")
        return _shown(outlook)


class ConversationContext(APIView):
    """What the model would be sent with a question; a question too long is refused as it would be when it is asked."""

    @extend_schema(
        parameters=[
            OpenApiParameter("prompt", str, description="The question; left out: everything but the question."),
            OpenApiParameter("model", str, description="Another model that the installation offers."),
        ],
        responses=ContextSerializer,
    )
    def get(self, request: Request, conversation_id: UUID) -> Response:
        return _ahead(request, conversation_id, request.query_params)

    @extend_schema(request=ContextQuery, responses=ContextSerializer)
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """The same for a question longer than an address may be, or that shall stand in none. Nothing is stored."""
        return _ahead(request, conversation_id, request.data)


@meaning.embedded_between
def _ahead(request: Request, conversation_id: UUID, asked: Any) -> Response:
    with access.as_of_one_moment():
        conversation = access.conversation_of(request.user, conversation_id)
        query = ContextQuery(conversation, data=asked)
        query.is_valid(raise_exception=True)
        return _shown(next_context(conversation, query.validated_data["prompt"], model=query.validated_data["model"]))


def _shown(outlook: Outlook) -> Response:
    return Response(ContextSerializer(outlook).data)
