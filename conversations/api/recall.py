"""Older turns of one conversation that have to do with a question, for programs."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from conversations import access, pace, recollections
from conversations.api.serializers import CleanCharField
from conversations.providers.errors import ProviderError
from conversations.refusals import TooManyRecalls

MOST_HITS = 50


class RecallUnavailable(APIException):
    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_code = "recall_unavailable"
    default_detail = "What finds older turns does not answer. Try again in a moment."


class RecallQuery(serializers.Serializer[Any]):
    q = CleanCharField(max_length=2000)
    k = serializers.IntegerField(required=False, default=4, min_value=1, max_value=MOST_HITS)


class SaidSerializer(serializers.Serializer[Any]):
    """A message of a turn."""

    id = serializers.IntegerField()
    role = serializers.CharField()
    text = serializers.CharField()


class RecollectionSerializer(serializers.Serializer[Any]):
    """A turn of the active branch; of two the one with the higher score matches better."""

    score = serializers.FloatField()
    messages = SaidSerializer(many=True, source="turn.messages")


class RecallSerializer(serializers.Serializer[Any]):
    """The turns of the best hits, oldest first."""

    results = RecollectionSerializer(many=True)


class Recall(APIView):
    """Turns of the active branch that have to do with `q`: those of the `k` messages that match best, oldest first."""

    @extend_schema(
        parameters=[
            OpenApiParameter("q", str, required=True, description="What is looked for: words, or a question."),
            OpenApiParameter("k", int, description=f"Messages looked for, 4 or up to {MOST_HITS}."),
        ],
        responses=RecallSerializer,
    )
    def get(self, request: Request, conversation_id: UUID) -> Response:
        query = RecallQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        conversation = access.conversation_of(request.user, conversation_id)
        if not pace.may_recall(request.user):
            raise TooManyRecalls(pace.MOST_RECALLS)
        try:
            found = recollections.recall(conversation, query.validated_data["q"], k=query.validated_data["k"])
        except ProviderError as error:
            raise RecallUnavailable from error
        return Response(RecallSerializer({"results": found}).data)
