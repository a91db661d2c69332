"""Turns, model calls, summaries and estimates in the admin: how they went and what they took, never what was said."""

from collections.abc import Iterable
from typing import Any, cast

from django.contrib import admin
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone

from accounts.models import User
from conversations import runs
from conversations.administration import changes, holds, rules  # noqa: F401  # they register what they show
from conversations.administration.memberships import MembershipAdmin
from conversations.administration.overview import VIEW
from conversations.administration.read_only import ReadOnlyAdmin
from conversations.calibration import error_of, sums_of
from conversations.handing_over import enqueue_finishing
from conversations.models import Erasure, Export, Import, ModelCall, Summary, TaskRun, TokenScale, Turn
from conversations.retention import closing, receipts, schedule

_index = admin.site.index


def _index_with_purge(request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
    """Whoever opens the admin sees that nothing is deleted any more, without looking for it."""
    told = {"schedule": schedule.schedule(timezone.now())} if request.user.has_perm(VIEW) else {}
    return _index(request, {**(extra_context or {}), **told})


admin.site.index = _index_with_purge  # type: ignore[method-assign]  # its only other way is another site


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


@admin.register(Export)
class ExportAdmin(ReadOnlyAdmin):
    """That people take their conversations away, and whether it works; what is in the files is theirs."""

    list_display = ("created_at", "owner_id", "status", "error_code", "attempts", "total", "size", "expires_at")
    ordering = ("-created_at",)
    list_filter = ("status", "error_code")
    date_hierarchy = "created_at"
    fields = (*list_display, "started_at", "finished_at", "done")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Export]:
        # Thousands of ids each, which no page shows.
        found: QuerySet[Export] = super().get_queryset(request).defer("conversations")
        return found


@admin.register(Import)
class ImportAdmin(ReadOnlyAdmin):
    """That files were brought in, and how it went; what they are called, and what was in them, is their owners'."""

    list_display = ("created_at", "owner", "status", "source", "size", "seen", "imported", "duplicates", "refused")
    ordering = ("-created_at",)
    list_filter = ("status", "source", "is_dry_run")
    list_select_related = ("owner",)
    show_full_result_count = False
    fields = (*list_display, "is_dry_run", "takes_instructions", "attempts", "started_at", "finished_at", "expires_at")
    readonly_fields = fields


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
        if run.finished_at != run.newest:
            return None
        if run.task == schedule.RUN:
            return not schedule.schedule(timezone.now()).is_late
        return runs.is_on_time(run.task, run.finished_at, now=timezone.now())


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


class Verified(admin.SimpleListFilter):
    """Receipts by what the last look at all stores found."""

    title = "verified"
    parameter_name = "verified"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:  # noqa: ARG002  # Django's signature
        return [("yes", "every store is clean"), ("no", "not yet, or something was left")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Erasure]) -> QuerySet[Erasure]:  # noqa: ARG002  # Django's signature
        return queryset.filter(verified_at__isnull=self.value() == "no") if self.value() else queryset


@admin.register(Erasure)
class ErasureAdmin(ReadOnlyAdmin):
    """Receipts: what was erased, when, why, by whom, and whether every store was read back as clean."""

    list_display = ("began_at", "number", "verified", "still_left", "reason", "by", "named")
    list_display_links = ("began_at", "number")
    ordering = ("-began_at",)
    list_filter = ("reason", Verified)
    date_hierarchy = "began_at"
    show_full_result_count = False
    search_fields = ("id",)
    search_help_text = "The id of a conversation or of a turn; the number of an account or of a receipt"
    actions = ("as_json", "as_csv")

    def get_search_results(
        self,
        request: HttpRequest,  # noqa: ARG002  # Django's signature
        queryset: QuerySet[Erasure],
        search_term: str,
    ) -> tuple[QuerySet[Erasure], bool]:
        return (queryset.filter(receipts.naming(search_term)) if search_term.strip() else queryset), False

    @admin.display(description="receipt", ordering="pk")
    def number(self, erasure: Erasure) -> int:
        return erasure.pk

    @admin.display(description="names")
    def named(self, erasure: Erasure) -> str:
        lists: dict[str, list[Any]] = {
            "account": erasure.accounts,
            "conversation": erasure.conversations,
            "turn": erasure.turns,
        }
        counts = [f"{len(ids):,} {name}{'s' if len(ids) > 1 else ''}" for name, ids in lists.items() if ids]
        return ", ".join(counts) or "nothing"

    @admin.display(description="verified", boolean=True)
    def verified(self, erasure: Erasure) -> bool:
        return erasure.is_verified

    @admin.display(description="left")
    def still_left(self, erasure: Erasure) -> str:
        return ", ".join(f"{store}: {what}" for store, what in erasure.left.items())

    @admin.action(description="Save as JSON (for replay_erasures)")
    def as_json(self, request: HttpRequest, queryset: QuerySet[Erasure]) -> HttpResponseBase:  # noqa: ARG002  # Django's signature
        return _download(receipts.as_json(queryset), "json", "application/json")

    @admin.action(description="Save as CSV")
    def as_csv(self, request: HttpRequest, queryset: QuerySet[Erasure]) -> HttpResponseBase:  # noqa: ARG002  # Django's signature
        return _download(receipts.as_csv(queryset), "csv", "text/csv; charset=utf-8")


def _download(lines: Iterable[str], suffix: str, content_type: str) -> HttpResponseBase:
    """Streamed: there may be many."""
    name = f"erasures-{timezone.now():%Y-%m-%d-%H%M}.{suffix}"
    return StreamingHttpResponse(
        lines, content_type=content_type, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


admin.site.unregister(User)


@admin.register(User)
class ClosingAccountAdmin(MembershipAdmin):
    """Deleting an account here takes the road that closing it takes: it works no longer at once, and a worker erases
    everything of it. What goes is counted before, not listed: what people wrote is nobody's business here."""

    def get_deleted_objects(
        self, objs: Iterable[User], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        users = list(objs)
        denied = {"account"} if not all(self.has_delete_permission(request, user) for user in users) else set()
        counts = closing.preview([user.pk for user in users])
        return [str(user) for user in users], counts, denied, closing.why_not(users)

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        by = cast("User", request.user)
        closing.close(obj, by=by, is_told=False, now=timezone.now())
        transaction.on_commit(enqueue_finishing)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for user in queryset:
            self.delete_model(request, user)

    def log_deletions(self, request: HttpRequest, queryset: Iterable[User]) -> list[LogEntry]:
        """By number: the history outlives the address."""
        kind = ContentType.objects.get_for_model(User)
        by = cast("User", request.user)
        return [
            LogEntry.objects.create(
                user_id=by.pk,
                content_type=kind,
                object_id=str(user.pk),
                object_repr=f"account {user.pk}",
                action_flag=DELETION,
                change_message="",
            )
            for user in queryset
        ]

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: int) -> HttpResponse:  # noqa: ARG002  # Django's signature
        told = (
            f"Account {obj_id} can no longer be used. Everything of it is being erased; its receipt says when it was."
        )
        self.message_user(request, told)
        return redirect("admin:accounts_user_changelist")
