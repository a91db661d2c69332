"""`/api/v1/exports`: everything I have here as a ZIP; and one conversation as a file."""

from typing import Any, cast
from uuid import UUID

from django.http import StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from conversations import access
from conversations.handing_over import enqueue_export
from conversations.models import Export
from conversations.transfer import downloads, exports
from conversations.transfer.formats import FORMATS


class Unnegotiated(BaseContentNegotiation):
    """Errors are JSON; what a file is was said by its name. DRF itself would take `?format=` for one of its own."""

    def select_parser(self, request: Request, parsers: Any) -> Any:  # noqa: ARG002  # DRF's signature
        return parsers[0]

    def select_renderer(
        self,
        request: Request,  # noqa: ARG002  # DRF's signature
        renderers: Any,
        format_suffix: str | None = None,  # noqa: ARG002  # DRF's signature
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type


class FormatQuery(serializers.Serializer[Any]):
    format = serializers.ChoiceField(choices=list(FORMATS), required=False, default="json")


class ConversationExport(APIView):
    """One conversation as a file."""

    content_negotiation_class = Unnegotiated

    @extend_schema(
        parameters=[OpenApiParameter("format", str, enum=list(FORMATS), description="`json` has all versions.")],
        responses={(200, one.content_type.partition(";")[0]): OpenApiTypes.STR for one in FORMATS.values()},
    )
    def get(self, request: Request, conversation_id: UUID) -> StreamingHttpResponse:
        """Sent while it is written, and all of one moment. JSON has the form of `conversation.schema.json`."""
        query = FormatQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        chosen = FORMATS[query.validated_data["format"]]
        return downloads.conversation_file(_person(request), conversation_id, chosen, now=timezone.now())


class ExportSerializer(serializers.ModelSerializer[Export]):
    """How far an export is; `total` and `done` count messages, `size` bytes."""

    error = serializers.SerializerMethodField(help_text="Why it failed, in a sentence.")

    class Meta:
        model = Export
        fields = (
            "id",
            "status",
            "created_at",
            "started_at",
            "finished_at",
            "expires_at",
            "total",
            "done",
            "size",
            "error_code",
            "error",
        )
        read_only_fields = fields

    def get_error(self, export: Export) -> str:
        return exports.sentence_of(export)


class ExportPage(serializers.Serializer[Any]):
    """Newest first; all that are kept, which are few."""

    results = ExportSerializer(many=True)


class ExportList(APIView):
    """Exports of everything I have."""

    @extend_schema(operation_id="exports_list", responses=ExportPage)
    def get(self, request: Request) -> Response:
        found = access.exports_of(request.user, now=timezone.now())
        return Response({"results": ExportSerializer(found, many=True).data})

    @extend_schema(request=None, responses={202: ExportSerializer})
    def post(self, request: Request) -> Response:
        """Have one made in the background; one at a time, and few a day."""
        export = exports.request(_person(request), now=timezone.now())
        enqueue_export(export.pk)
        return Response(ExportSerializer(export).data, status=status.HTTP_202_ACCEPTED)


class ExportDetail(APIView):
    @extend_schema(responses=ExportSerializer)
    def get(self, request: Request, export_id: UUID) -> Response:
        return Response(ExportSerializer(access.export_of(request.user, export_id, now=timezone.now())).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, export_id: UUID) -> Response:
        """Remove the file; one that is being made is given up."""
        exports.remove(access.export_of(request.user, export_id, now=timezone.now()))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ExportDownload(APIView):
    content_negotiation_class = Unnegotiated

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request: Request, export_id: UUID) -> StreamingHttpResponse:
        """The ZIP of one that is ready."""
        return downloads.export_file(access.export_of(request.user, export_id, now=timezone.now()))


def _person(request: Request) -> User:
    return cast("User", request.user)
