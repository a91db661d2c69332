"""`/api/v1/conversations`: list, make, read, change, and their messages."""

from typing import Any, cast
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from conversations import access, asking, beginnings, searching, titles
from conversations.api.binning import NOW, SELECTION, DeletedSerializer, delete_many, delete_one
from conversations.api.keys import IDEMPOTENCY_KEY, request_key
from conversations.api.pagination import ConversationPages
from conversations.api.search import QUERY_CHARACTERS
from conversations.api.serializers import (
    CleanCharField,
    ConversationSerializer,
    MessageSerializer,
    NewTurnSerializer,
    TurnSerializer,
    with_title_source,
)
from conversations.expiry import EndsAt
from conversations.handing_over import enqueue_title, remove_version, take_on
from conversations.listing import BIN, SIDEBAR
from conversations.models import Conversation
from conversations.outlook import next_context
from conversations.prompts import checked_prompt, model_for
from conversations.querysets import ConversationQuerySet
from conversations.recall.lexemes import sought
from conversations.refusals import NothingToLookFor, QueueUnreachable
from conversations.tree import children_of

MESSAGES_AT_MOST = 200


class ConversationQuery(serializers.Serializer[Any]):
    q = CleanCharField(required=False, max_length=QUERY_CHARACTERS)
    archived = serializers.BooleanField(required=False, default=False)
    trashed = serializers.BooleanField(required=False, default=False)


@extend_schema_view(
    get=extend_schema(
        parameters=[
            OpenApiParameter(
                "q", str, description="Those whose title has these words; `GET search` asks messages, too."
            ),
            OpenApiParameter("archived", bool, description="Those in the archive, and no others."),
            OpenApiParameter("trashed", bool, description="Those in the bin, archived or not, the last deleted first."),
        ]
    ),
    post=extend_schema(
        parameters=[IDEMPOTENCY_KEY], responses={201: ConversationSerializer, 200: ConversationSerializer}
    ),
)
class ConversationList(generics.ListCreateAPIView[Conversation]):
    """List mine; make one; delete many."""

    serializer_class = ConversationSerializer
    pagination_class = ConversationPages
    order = SIDEBAR

    def get_queryset(self) -> QuerySet[Conversation]:
        query = ConversationQuery(data=self.request.query_params)
        query.is_valid(raise_exception=True)
        if query.validated_data["trashed"]:
            self.order = BIN
            rows = access.bin_of(self.request.user)
        else:
            rows = access.conversations_of(self.request.user).filter(archived=query.validated_data["archived"])
        if (words := query.validated_data.get("q")) is not None:
            rows = rows.filter(pk__in=self._titled(rows, words))
        listed: QuerySet[Conversation] = rows.annotate(ends_at=EndsAt())
        return listed

    def _titled(self, rows: ConversationQuerySet, words: str) -> list[str]:
        if (looked_for := sought(words)).is_empty:
            raise NothingToLookFor
        return searching.titled(rows, looked_for)

    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:  # noqa: ARG002  # DRF's signature
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        fields = with_title_source(serializer.validated_data)
        made, is_new = beginnings.begin(cast("User", request.user), request_key=request_key(request), **fields)
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(self.get_serializer(made).data, status=code)

    @extend_schema(
        operation_id="conversations_destroy_many",
        parameters=[
            *SELECTION,
            NOW,
            OpenApiParameter("trashed", bool, description="Of those in the bin, with `now`."),
        ],
        responses=DeletedSerializer,
    )
    def delete(self, request: Request) -> Response:
        """Put those that are named into the bin, or erase them `now`. What has to be kept is named in the answer."""
        return delete_many(request)


class ConversationDetail(generics.RetrieveUpdateAPIView[Conversation]):
    """Read one; rename, pin or archive it, or go to another of its branches; delete it."""

    serializer_class = ConversationSerializer
    http_method_names = ["get", "patch", "delete", "head", "options"]

    def get_object(self) -> Conversation:
        return access.conversation_of(self.request.user, self.kwargs["conversation_id"])

    @extend_schema(parameters=[NOW], responses={200: ConversationSerializer, 204: None})
    def delete(self, request: Request, conversation_id: UUID) -> Response:
        """Put it into the bin, where it can be restored until `restorable_until`. A reply that is being written is
        stopped. Deleting it again changes nothing."""
        return delete_one(request, conversation_id)


class MessageQuery(serializers.Serializer[Any]):
    before = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1)
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=MESSAGES_AT_MOST)


class MessagePage(serializers.Serializer[Any]):
    """Ask for the page before with `before`, null at the beginning."""

    results = MessageSerializer(many=True)
    before = serializers.IntegerField(allow_null=True)


class MessageList(APIView):
    """The newest messages of the active branch, oldest first."""

    @extend_schema(
        parameters=[
            OpenApiParameter("before", int, description="Only messages before this one."),
            OpenApiParameter("limit", int, description=f"At most so many, up to {MESSAGES_AT_MOST}."),
        ],
        responses=MessagePage,
    )
    def get(self, request: Request, conversation_id: UUID) -> Response:
        query = MessageQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        with access.as_of_one_moment():
            conversation = access.conversation_of(request.user, conversation_id)
            messages = list(access.branch_page(conversation, **query.validated_data))
            children = children_of(conversation, {message.parent_id for message in messages})
            sent = set(next_context(conversation).record.sent)
        older = messages[0].pk if messages and messages[0].parent_id else None
        shown = MessageSerializer(messages, many=True, context={"children": children, "sent": sent})
        return Response({"results": shown.data, "before": older})


class TitleSuggestion(APIView):
    """A title found by a model."""

    @extend_schema(request=None, responses={202: ConversationSerializer})
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """Have one found; it is the conversation's some seconds later, unless it is renamed meanwhile."""
        conversation = access.conversation_of(request.user, conversation_id)
        titles.expect_pace(conversation.owner_id)
        if not enqueue_title(conversation.pk):
            raise QueueUnreachable
        return Response(ConversationSerializer(conversation).data, status=status.HTTP_202_ACCEPTED)


class MessageDetail(APIView):
    """A version of a question or of a reply."""

    @extend_schema(responses={200: ConversationSerializer})
    def delete(self, request: Request, conversation_id: UUID, message_id: int) -> Response:
        """Delete it with everything below it, for good; a head below it falls back to its neighbour."""
        conversation = access.conversation_of(request.user, conversation_id)
        conversation.head_id = remove_version(conversation.pk, message_id, by=cast("User", request.user))
        return Response(ConversationSerializer(conversation).data)


class TurnList(APIView):
    """Ask a question."""

    @extend_schema(
        request=NewTurnSerializer,
        parameters=[IDEMPOTENCY_KEY],
        responses={201: TurnSerializer, 200: TurnSerializer},
    )
    def post(self, request: Request, conversation_id: UUID) -> Response:
        conversation = access.conversation_of(request.user, conversation_id)
        question = NewTurnSerializer(data=request.data)
        question.is_valid(raise_exception=True)
        asked = asking.ask(
            conversation.pk,
            text=checked_prompt(question.validated_data["text"], conversation),
            request_key=request_key(request),
            parent_id=question.validated_data["parent"],
            model=model_for(conversation),
            is_branch=question.validated_data["branch"],
        )
        return answered(asked)


def answered(asked: asking.Asked) -> Response:
    """Hand a new turn to the workers, and show it: 201 when it is new, 200 when it was known."""
    take_on(asked)
    code = status.HTTP_201_CREATED if asked.is_new else status.HTTP_200_OK
    return Response(TurnSerializer(asked.turn).data, status=code)
