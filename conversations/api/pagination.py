"""Pages that stay right while rows are added."""

from rest_framework.pagination import CursorPagination


class ConversationPages(CursorPagination):
    """In the order of the sidebar."""

    ordering = ("-pinned", "-last_activity_at", "-id")
    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 200
