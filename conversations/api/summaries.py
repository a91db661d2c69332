"""The summary of a conversation, for programs: read, corrected, removed."""

from typing import Any, get_args
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from conversations import access, summaries
from conversations.api.serializers import CleanCharField
from conversations.models import Conversation, Summary
from conversations.outlook import next_context
from conversations.summaries.progress import State

MOST_CHARACTERS = 100_000
"""Refused unread; beyond that its tokens count, see `summaries.correct`."""


class VersionSerializer(serializers.ModelSerializer[Summary]):
    """One version of a summary."""

    through = serializers.IntegerField(source="through_message_id", help_text="The newest message it stands for.")

    class Meta:
        model = Summary
        fields: tuple[str, ...] = ("id", "text", "through", "tokens", "source", "model", "created_at")
        read_only_fields = fields


class SummarySerializer(VersionSerializer):
    """What stands for the beginning of the active branch."""

    is_sent = serializers.BooleanField(
        help_text="Whether the next request would hold it; one written ahead waits until its messages are left out."
    )
    progress = serializers.ChoiceField(
        choices=get_args(State),
        help_text="Of the next one: whether a model is at it, or failed, or made way for a reply, since this one.",
    )
    versions = VersionSerializer(
        many=True, help_text="It and those it was written from, newest first; none when it was removed."
    )

    class Meta(VersionSerializer.Meta):
        fields = (*VersionSerializer.Meta.fields, "is_sent", "progress", "versions")
        read_only_fields = fields


class CorrectionSerializer(serializers.Serializer[Any]):
    """`through` is that of the summary as it was read, `version` its `id`: one continued or removed meanwhile is
    not overwritten, and where `version` is told, one that was corrected."""

    text = CleanCharField(max_length=MOST_CHARACTERS, allow_blank=True)
    through = serializers.IntegerField()
    version = serializers.IntegerField(source="seen", required=False, allow_null=True, default=None)


class ConversationSummary(APIView):
    """The text that stands for what no longer fits into a request."""

    @extend_schema(responses=SummarySerializer)
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """Blank when it was removed; 404 while nothing was summarised."""
        with access.as_of_one_moment():
            conversation = access.conversation_of(request.user, conversation_id)
            return _shown(conversation, summaries.current(conversation))

    @extend_schema(request=CorrectionSerializer, responses=SummarySerializer)
    def put(self, request: Request, conversation_id: UUID) -> Response:
        """Correct it: the next request that leaves anything out holds these words (`is_sent` says whether that is the
        next one), and the next summary goes on from them."""
        conversation = access.conversation_of(request.user, conversation_id)
        correction = CorrectionSerializer(data=request.data)
        correction.is_valid(raise_exception=True)
        summary = summaries.correct(conversation, **correction.validated_data)
        return _shown(conversation, summary)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, conversation_id: UUID) -> Response:
        """Remove the words of all its versions, for good; nothing stands for these messages once they are left out."""
        summaries.remove(access.conversation_of(request.user, conversation_id))
        return Response(status=status.HTTP_204_NO_CONTENT)


def _shown(conversation: Conversation, summary: Summary | None) -> Response:
    if summary is None:
        raise Http404(summaries.NONE_YET)
    is_sent = next_context(conversation).record.summary == summary.pk
    versions = VersionSerializer(summaries.versions(summary), many=True).data
    progress = summaries.progress_of(conversation).state
    told = {**VersionSerializer(summary).data, "is_sent": is_sent, "progress": progress, "versions": versions}
    return Response(told)
