"""Into the bin and out of it, one conversation or many."""

from typing import Any, cast
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from conversations import access, binning
from conversations.api.serializers import ConversationSerializer
from conversations.querysets import ConversationQuerySet
from conversations.retention.deleting import Deleted, delete, delete_for_good

IDS_AT_MOST = 200

NAME_SOME = "Name conversations (`id`, as often as need be), or say `all=true`; not both."


class SelectionQuery(serializers.Serializer[Any]):
    """Which conversations: those named, or all of them."""

    id = serializers.ListField(child=serializers.UUIDField(), required=False, default=list, max_length=IDS_AT_MOST)
    all = serializers.BooleanField(required=False, default=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if bool(attrs["id"]) == attrs["all"]:
            raise serializers.ValidationError(NAME_SOME)
        return attrs


IN_THE_BIN = "What is in the bin can only be deleted `now`."


class NowQuery(serializers.Serializer[Any]):
    now = serializers.BooleanField(required=False, default=False)


class SweepQuery(NowQuery):
    trashed = serializers.BooleanField(required=False, default=False)


class DeletedSerializer(serializers.Serializer[Any]):
    """How many conversations went, and which of them have to be kept."""

    deleted = serializers.IntegerField()
    held = serializers.ListField(child=serializers.UUIDField())


class RestoredSerializer(serializers.Serializer[Any]):
    """How many conversations came back."""

    restored = serializers.IntegerField()


NOW = OpenApiParameter("now", bool, description="For good, past the bin: nothing can be restored.")

SELECTION = [
    OpenApiParameter(
        "id", UUID, many=True, description=f"Conversations, up to {IDS_AT_MOST}; those that are not there are left out."
    ),
    OpenApiParameter("all", bool, description="All of them, archived ones, too: `true` confirms that."),
]


def selected(request: Request, among: ConversationQuerySet) -> list[UUID]:
    """The ids of those that the query names, among these.

    Raises:
        ValidationError: it names none, or both some and all.
    """
    query = SelectionQuery(data=request.query_params)
    query.is_valid(raise_exception=True)
    chosen = among if query.validated_data["all"] else among.filter(pk__in=query.validated_data["id"])
    return list(chosen.values_list("pk", flat=True))


def delete_many(request: Request) -> Response:
    """Put those that are named into the bin; with `now` erase them, and also those that are in it.

    Raises:
        Held: all of them are held.
    """
    query = SweepQuery(data=request.query_params)
    query.is_valid(raise_exception=True)
    if query.validated_data["trashed"] and not query.validated_data["now"]:
        raise serializers.ValidationError(IN_THE_BIN)
    among = access.bin_of if query.validated_data["trashed"] else access.conversations_of
    gone = _deleted(request, selected(request, among(request.user)), now=query.validated_data["now"])
    return Response({"deleted": len(gone.ids), "held": sorted(map(str, gone.held))})


def delete_one(request: Request, conversation_id: UUID) -> Response:
    """Put one into the bin, and show it; one that is there already is shown as it is. With `now` erase it.

    Raises:
        Http404, Held
    """
    query = NowQuery(data=request.query_params)
    query.is_valid(raise_exception=True)
    found = access.bin_of(request.user).filter(pk=conversation_id).first()
    if found is None or query.validated_data["now"]:
        found = found or access.conversation_of(request.user, conversation_id)
        gone = _deleted(request, [found.pk], now=query.validated_data["now"])
        if gone.is_for_good:
            return Response(status=status.HTTP_204_NO_CONTENT)
    return Response(ConversationSerializer(access.binned_of(request.user, conversation_id)).data)


def _deleted(request: Request, ids: list[UUID], *, now: bool) -> Deleted:
    by, moment = cast("User", request.user), timezone.now()
    return delete_for_good(ids, by=by, now=moment) if now else delete(ids, by=by, now=moment)


class Restoring(APIView):
    """Out of the bin."""

    @extend_schema(request=None, responses=ConversationSerializer)
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """Take a conversation out of the bin; it is in the list again, as it was. One that is not in it is shown."""
        if binned := access.bin_of(request.user).filter(pk=conversation_id).first():
            binning.take_out(binned)
        return Response(ConversationSerializer(access.conversation_of(request.user, conversation_id)).data)


class RestoringMany(APIView):
    """Many out of the bin."""

    @extend_schema(
        operation_id="conversations_restore_many",
        request=None,
        parameters=SELECTION,
        responses=RestoredSerializer,
    )
    def post(self, request: Request) -> Response:
        """Take those that are named out of the bin."""
        ids = selected(request, access.bin_of(request.user))
        return Response({"restored": binning.take_all_out(ids)})
