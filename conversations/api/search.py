"""All of a person's conversations searched, for programs."""

from typing import Any, cast

from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from conversations import access, searching
from conversations.api.pagination import next_address
from conversations.api.serializers import CleanCharField, ConversationSerializer
from conversations.listing import BadCursor
from conversations.recall.lexemes import sought
from conversations.refusals import NothingToLookFor

QUERY_CHARACTERS = 500
PAGE = 20
PAGE_AT_MOST = 100


class SearchQuery(serializers.Serializer[Any]):
    q = CleanCharField(max_length=QUERY_CHARACTERS, allow_blank=True)
    limit = serializers.IntegerField(required=False, default=PAGE, min_value=1, max_value=PAGE_AT_MOST)
    cursor = serializers.CharField(required=False, default="")

    def validate_cursor(self, cursor: str) -> searching.Place | None:
        try:
            return searching.Place.of(cursor) if cursor else None
        except BadCursor as error:
            raise serializers.ValidationError("This cursor is not one we made.") from error


class PartSerializer(serializers.Serializer[Any]):
    """A piece of a text; pieces that match stand among others that do not."""

    text = serializers.CharField()
    is_match = serializers.BooleanField()


class TitleHitSerializer(serializers.Serializer[Any]):
    """A conversation that is called so."""

    conversation = ConversationSerializer()
    title = PartSerializer(many=True)


class HitSerializer(serializers.Serializer[Any]):
    """A message that has all of the words, on whatever branch."""

    id = serializers.IntegerField(source="message.pk")
    conversation = serializers.UUIDField(source="message.conversation_id")
    title = serializers.CharField(source="message.conversation.title", help_text="Of the conversation.")
    archived = serializers.BooleanField(source="message.conversation.archived")
    role = serializers.CharField(source="message.role")
    created_at = serializers.DateTimeField(source="message.created_at")
    excerpt = PartSerializer(many=True, help_text="The words around the first place, as they are written.")
    page = serializers.SerializerMethodField(help_text="Where a browser shows it; it changes nothing.")

    def get_page(self, hit: searching.Hit) -> str:
        address = reverse("conversations:message", args=[hit.message.conversation_id, hit.message.pk])
        return str(self.context["request"].build_absolute_uri(address))


class FoundSerializer(serializers.Serializer[Any]):
    """Messages, those that were said last first; on the first page also the conversations that are called so."""

    next = serializers.URLField(allow_null=True)
    titles = TitleHitSerializer(many=True)
    results = HitSerializer(many=True, source="hits")


class Search(APIView):
    """Search titles and messages of all my conversations, archived ones, too."""

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "q",
                str,
                required=True,
                description="All of these words, as they are written but for capitals and accents; the last may be "
                "the beginning of one.",
            ),
            OpenApiParameter("limit", int, description=f"Messages at most, {PAGE} or up to {PAGE_AT_MOST}."),
            OpenApiParameter("cursor", str),
        ],
        responses=FoundSerializer,
    )
    def get(self, request: Request) -> Response:
        query = SearchQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        looked_for = sought(query.validated_data["q"])
        if looked_for.is_empty:
            raise NothingToLookFor
        with access.as_of_one_moment():
            found = searching.search(
                access.conversations_of(request.user),
                looked_for,
                owner_id=cast("User", request.user).pk,
                limit=query.validated_data["limit"],
                after=query.validated_data["cursor"] or None,
            )
        cursor = found.next_place.cursor() if found.next_place else None
        shown = FoundSerializer(
            {"next": next_address(request, cursor), "titles": found.titles, "hits": found.hits},
            context={"request": request},
        )
        return Response(shown.data)
