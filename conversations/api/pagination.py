"""Pages of conversations that neither repeat nor skip while others are added."""

from typing import Any

from rest_framework import serializers
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from conversations.listing import SIDEBAR, BadCursor, Order, page_of, place_of

PAGE = 50
PAGE_AT_MOST = 200


class PageQuery(serializers.Serializer[Any]):
    """The context holds the `order` of the list."""

    limit = serializers.IntegerField(required=False, default=PAGE, min_value=1, max_value=PAGE_AT_MOST)
    cursor = serializers.CharField(required=False, default="")

    def validate_cursor(self, cursor: str) -> object:
        try:
            return place_of(cursor, self.context["order"]) if cursor else None
        except BadCursor as error:
            raise serializers.ValidationError("This cursor is not one we made.") from error


class ConversationPages(BasePagination):
    """In the order of the sidebar, or in the one that the view names; `next` is the address of the page that
    follows."""

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        order: Order = getattr(view, "order", SIDEBAR)
        query = PageQuery(data=request.query_params, context={"order": order})
        query.is_valid(raise_exception=True)
        after = query.validated_data["cursor"] or None
        page = page_of(queryset, limit=query.validated_data["limit"], after=after, order=order)
        self._next = next_address(request, page.next_cursor)
        return list(page.rows)

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"next": self._next, "results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        address = {"type": "string", "format": "uri", "nullable": True}
        return {"type": "object", "required": ["next", "results"], "properties": {"next": address, "results": schema}}

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:  # noqa: ARG002  # DRF's signature
        return [
            {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": PAGE_AT_MOST}},
            {"name": "cursor", "in": "query", "schema": {"type": "string"}},
        ]


def next_address(request: Request, cursor: str | None) -> str | None:
    return replace_query_param(request.build_absolute_uri(), "cursor", cursor) if cursor else None
