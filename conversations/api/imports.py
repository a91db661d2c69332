"""`/api/v1/imports`: files of conversations that are brought in."""

from collections.abc import Iterator
from typing import IO, Any, cast
from uuid import UUID

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from conversations import access
from conversations.handing_over import enqueue_import
from conversations.models import Import
from conversations.refusals import FileMissing
from conversations.transfer.incoming import imports, results
from conversations.transfer.incoming.formats import label_of

PIECE = 65_536


class Raw(BaseParser):
    """The body is the file, whatever kind it says to be; it is read when it is stored."""

    media_type = "*/*"

    def parse(self, stream: IO[Any], *_: Any, **__: Any) -> Any:
        return stream


class ImportSerializer(serializers.ModelSerializer[Import]):
    """How far an import is. `seen` conversations are `imported` (or would be), `duplicates` or `refused`."""

    format = serializers.SerializerMethodField(help_text="Of the file, once that is known.")

    class Meta:
        model = Import
        fields = (
            "id",
            "status",
            "file_name",
            "size",
            "format",
            "is_dry_run",
            "takes_instructions",
            "created_at",
            "started_at",
            "finished_at",
            "expires_at",
            "seen",
            "imported",
            "duplicates",
            "refused",
            "error",
        )
        read_only_fields = fields

    def get_format(self, run: Import) -> str:
        return label_of(run.source)


class ResultSerializer(serializers.Serializer[Any]):
    """What became of one conversation of the file."""

    number = serializers.IntegerField(help_text="Its place in the file, from 1.")
    outcome = serializers.ChoiceField(["imported", "duplicate", "refused"])
    title = serializers.CharField()
    detail = serializers.CharField(help_text="Why, or what with, in sentences.")
    conversation = serializers.UUIDField(allow_null=True, help_text="What was made of it, or what it is the same as.")


class ImportWithResults(ImportSerializer):
    """Ask for the page after with `after`, null at the end."""

    results = ResultSerializer(many=True)
    next_after = serializers.IntegerField(allow_null=True)

    class Meta:
        model = Import
        fields = (*ImportSerializer.Meta.fields, "results", "next_after")
        read_only_fields = fields


class ImportPage(serializers.Serializer[Any]):
    """Newest first; the last hundred that are kept."""

    results = ImportSerializer(many=True)


class Options(serializers.Serializer[Any]):
    """`file_name` is shown, nothing else is made of it."""

    dry_run = serializers.BooleanField(required=False, default=False)
    instructions = serializers.BooleanField(required=False, default=False)
    file_name = serializers.CharField(required=False, default="", allow_blank=True, max_length=1000)


class ResultsQuery(serializers.Serializer[Any]):
    after = serializers.IntegerField(required=False, default=0, min_value=0)
    limit = serializers.IntegerField(required=False, default=results.PAGE, min_value=1, max_value=500)


class ImportList(APIView):
    """Files of conversations that I have sent."""

    parser_classes = [MultiPartParser, Raw]

    @extend_schema(operation_id="imports_list", responses=ImportPage)
    def get(self, request: Request) -> Response:
        found = access.imports_of(request.user, now=timezone.now())[:100]
        return Response({"results": ImportSerializer(found, many=True).data})

    @extend_schema(
        request={
            "application/octet-stream": OpenApiTypes.BINARY,
            "multipart/form-data": {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}},
        },
        parameters=[
            OpenApiParameter("dry_run", bool, description="Only tell what would be brought in."),
            OpenApiParameter("instructions", bool, description="Let system prompts in the file instruct models here."),
            OpenApiParameter("file_name", str, description="To show it; a form brings its own."),
        ],
        responses={202: ImportSerializer},
    )
    def post(self, request: Request) -> Response:
        """Send a file, as the body or as `file` of a form, and have it brought in, one at a time."""
        sent = request.data
        form: Any = sent if hasattr(sent, "getlist") else {}
        options = Options(data={**request.query_params.dict(), **{k: form[k] for k in form if k != "file"}})
        options.is_valid(raise_exception=True)
        file = request.FILES.get("file") if form else None
        if form and file is None:
            raise FileMissing
        told = options.validated_data
        run = imports.take(
            cast("User", request.user),
            file.chunks() if file else _pieces(sent),
            file_name=told["file_name"] or (file.name if file else "") or "",
            now=timezone.now(),
            is_dry_run=told["dry_run"],
            takes_instructions=told["instructions"],
        )
        enqueue_import(run.pk)
        return Response(ImportSerializer(run).data, status=status.HTTP_202_ACCEPTED)


class ImportDetail(APIView):
    @extend_schema(
        parameters=[
            OpenApiParameter("after", int, description="Only results behind this number."),
            OpenApiParameter("limit", int, description="At most so many results, up to 500."),
        ],
        responses=ImportWithResults,
    )
    def get(self, request: Request, import_id: UUID) -> Response:
        """How far it is, and what became of each conversation so far."""
        query = ResultsQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        run = access.import_of(request.user, import_id, now=timezone.now())
        page = results.page_of(run, cast("User", request.user), **query.validated_data)
        shown = ResultSerializer(page.rows, many=True).data
        return Response({**ImportSerializer(run).data, "results": shown, "next_after": page.next_number})

    @extend_schema(responses={204: None})
    def delete(self, request: Request, import_id: UUID) -> Response:
        """Give it up, or forget it; what was brought in stays."""
        imports.remove(access.import_of(request.user, import_id, now=timezone.now()))
        return Response(status=status.HTTP_204_NO_CONTENT)


def _pieces(stream: Any) -> Iterator[bytes]:
    while hasattr(stream, "read") and (piece := stream.read(PIECE)):
        yield piece
