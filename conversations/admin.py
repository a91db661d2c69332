"""Turns, model calls, summaries and estimates in the admin: how they went and what they took, never what was said."""

from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils import timezone

from conversations import runs
from conversations.calibration import error_of, sums_of
from conversations.models import ModelCall, Summary, TaskRun, TokenScale, Turn


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


@admin.register(Summary)
class SummaryAdmin(ReadOnlyAdmin):
    """That there are summaries, and how large; what they say is their owners'."""

    list_display = ("created_at", "conversation_id", "through_message_id", "tokens", "source", "model")
    ordering = ("-id",)
    list_filter = ("source", "model")
    show_full_result_count = False
    search_fields = ("conversation__id",)
    fields = list_display
    readonly_fields = list_display


@admin.register(TaskRun)
class TaskRunAdmin(ReadOnlyAdmin):
    list_display = ("task", "finished_at", "what", "error", "took", "runs", "on_time")
    ordering = ("-finished_at",)
    list_filter = ("task", "is_idle", "error")
    date_hierarchy = "finished_at"

    def get_queryset(self, request: HttpRequest) -> QuerySet[TaskRun]:
        # Not among those that a filter leaves, but among all.
        newest = TaskRun.objects.filter(task=OuterRef("task")).order_by("-finished_at").values("finished_at")[:1]
        runs_told: QuerySet[TaskRun] = super().get_queryset(request).annotate(newest=Subquery(newest))
        return runs_told

    @admin.display(description="did")
    def what(self, run: TaskRun) -> str:
        return ", ".join(f"{count} {kind}" for kind, count in run.did.items() if count) or "nothing to do"

    @admin.display(description="took")
    def took(self, run: TaskRun) -> str:
        return f"{(run.finished_at - run.started_at).total_seconds() * 1000:.0f} ms"

    @admin.display(description="on time", boolean=True)
    def on_time(self, run: Any) -> bool | None:
        """Whether the newest run of a task is as new as it should be. Nothing is said of older ones."""
        is_newest = run.finished_at == run.newest
        return runs.is_on_time(run.task, run.finished_at, now=timezone.now()) if is_newest else None


@admin.register(TokenScale)
class TokenScaleAdmin(ReadOnlyAdmin):
    """How far our count of tokens was from the provider's, and what estimates are multiplied with."""

    list_display = (
        "model",
        "requests",
        "ratio",
        "median_error",
        "worst_error",
        "words",
        "message",
        "tools",
        "updated_at",
    )
    ordering = ("model",)
    fields = list_display
    readonly_fields = list_display

    @admin.display(description="our count / the provider's")
    def ratio(self, row: TokenScale) -> str:
        return f"{found.mean_ratio:.2f}" if (found := error_of(row)) else "–"

    @admin.display(description="error, median")
    def median_error(self, row: TokenScale) -> str:
        return f"{found.median:.0f} %" if (found := error_of(row)) else "–"

    @admin.display(description="error, 95 of 100 below")
    def worst_error(self, row: TokenScale) -> str:
        return f"{found.most:.0f} %" if (found := error_of(row)) else "–"

    @admin.display(description="words ×")
    def words(self, row: TokenScale) -> str:
        return f"{sums_of(row).scale.words:.2f}"

    @admin.display(description="each message +")
    def message(self, row: TokenScale) -> str:
        return f"{sums_of(row).scale.message:.1f}"

    @admin.display(description="tools ×")
    def tools(self, row: TokenScale) -> str:
        return f"{sums_of(row).scale.tools:.2f}"
