"""Turns and model calls in the admin: how they went and what they took, never what was said."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from conversations.models import ModelCall, Turn


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not subscriptable at run time
    """For looking: what happens to conversations is decided by their owners and by retention."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002  # Django's signature
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002  # Django's signature
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002  # Django's signature
        return False


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "status", "error_code", "model", "output_tokens")
    ordering = ("-created_at",)
    list_filter = ("status", "error_code", "model")
    date_hierarchy = "created_at"
    show_full_result_count = False
    search_fields = ("id", "conversation__id")
    exclude = ("prompt", "context")


@admin.register(ModelCall)
class ModelCallAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "purpose", "model", "outcome", "latency_ms", "cost")
    ordering = ("-created_at",)
    list_filter = ("purpose", "provider", "model", "outcome")
    date_hierarchy = "created_at"
    show_full_result_count = False
    search_fields = ("conversation__id", "turn__id")
