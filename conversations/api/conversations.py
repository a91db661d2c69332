"""`/api/v1/conversations`: list, make, read, change, and their messages."""

from typing import Any
from uuid import UUID, uuid4

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from conversations import access, turns
from conversations.api.keys import request_key
from conversations.api.pagination import ConversationPages
from conversations.api.serializers import ConversationSerializer, MessageSerializer, NewTurnSerializer, TurnSerializer
from conversations.models import Conversation, Message
from conversations.providers.registry import default_model_name
from conversations.replies import check_prompt
from conversations.tasks import enqueue_answer

MESSAGES_AT_MOST = 200


class ConversationList(generics.ListCreateAPIView[Conversation]):
    """List mine; make one."""

    serializer_class = ConversationSerializer
    pagination_class = ConversationPages

    def get_queryset(self) -> QuerySet[Conversation]:
        archived = self.request.query_params.get("archived") == "true"
        return access.conversations_of(self.request.user).filter(archived=archived)

    def perform_create(self, serializer: serializers.BaseSerializer[Conversation]) -> None:
        _save(serializer, owner=self.request.user, request_key=str(uuid4()))


class ConversationDetail(generics.RetrieveUpdateAPIView[Conversation]):
    """Read one; rename, pin or archive it."""

    serializer_class = ConversationSerializer
    http_method_names = ["get", "patch", "head", "options"]

    def get_object(self) -> Conversation:
        return access.conversation_of(self.request.user, self.kwargs["conversation_id"])

    def perform_update(self, serializer: serializers.BaseSerializer[Conversation]) -> None:
        _save(serializer)


def _save(serializer: serializers.BaseSerializer[Conversation], **fields: Any) -> None:
    """A title that was typed is the user's; taken away, one is found again."""
    if "title" in serializer.validated_data:
        title = serializer.validated_data["title"]
        source = Conversation.TitleSource.USER if title else Conversation.TitleSource.NONE
        fields |= {"title": title, "title_source": source}
    serializer.save(**fields)


class MessageList(APIView):
    """The newest messages of the active branch, oldest first."""

    @extend_schema(
        parameters=[
            OpenApiParameter("before", int, description="Only messages before this one."),
            OpenApiParameter("limit", int, description=f"At most so many, up to {MESSAGES_AT_MOST}."),
        ],
        responses=MessageSerializer(many=True),
    )
    def get(self, request: Request, conversation_id: UUID) -> Response:
        conversation = access.conversation_of(request.user, conversation_id)
        query = MessageQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        before, limit = query.validated_data["before"], query.validated_data["limit"]
        messages = list(branch_page(conversation, before=before, limit=limit))
        older = messages[0].parent_id if messages else None
        return Response(
            {"results": MessageSerializer(messages, many=True).data, "before": messages[0].pk if older else None}
        )


class MessageQuery(serializers.Serializer[Any]):
    before = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1)
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=MESSAGES_AT_MOST)


def branch_page(conversation: Conversation, *, before: int | None, limit: int) -> QuerySet[Message]:
    """The newest `limit` messages of the active branch, or those before a message of the conversation."""
    tip = conversation.head_id
    if before is not None:
        tip = Message.objects.filter(conversation=conversation, pk=before).values_list("parent_id", flat=True).first()
    return Message.objects.branch(tip, rows=limit)


class TurnList(APIView):
    """Ask a question."""

    @extend_schema(
        request=NewTurnSerializer,
        parameters=[OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER)],
        responses={201: TurnSerializer, 200: TurnSerializer},
    )
    def post(self, request: Request, conversation_id: UUID) -> Response:
        conversation = access.conversation_of(request.user, conversation_id)
        question = NewTurnSerializer(data=request.data)
        question.is_valid(raise_exception=True)
        model = conversation.model or default_model_name()
        asked = turns.ask(
            conversation.pk,
            text=check_prompt(question.validated_data["text"], model_name=model),
            request_key=request_key(request),
            parent_id=question.validated_data["parent"],
            model=model,
        )
        return answered(asked)


def answered(asked: turns.Asked) -> Response:
    """Hand a new turn to the workers, and show it: 201 when it is new, 200 when it was known."""
    if asked.is_new:
        enqueue_answer(asked.turn.pk)
    code = status.HTTP_201_CREATED if asked.is_new else status.HTTP_200_OK
    return Response(TurnSerializer(asked.turn).data, status=code)
