"""One page that says what holds for whom, what goes with the next purge, and whether purges run."""

from collections.abc import Mapping
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from conversations.handing_over import enqueue_purge
from conversations.models import Hold, RetentionRule
from conversations.retention import schedule
from conversations.retention.lives import installation, life_of, lives
from conversations.retention.preview import Preview, preview
from conversations.retention.wording import sentence

KINDS: Mapping[str, str] = {
    "idle": "without a message for too long",
    "age": "begun too long ago",
    "temporary": "temporary, and past their life",
    "bin": "in the bin for long enough",
}
VIEW = "conversations.view_retentionrule"
RUN = "conversations.change_retentionrule"


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    """At the moment of the next purge; with `?dry-run` at this one."""
    _expect(request, VIEW)
    now = timezone.now()
    planned = schedule.schedule(now)
    is_dry_run = "dry-run" in request.GET
    at = now if is_dry_run else planned.next_at or now
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": "Retention",
        "opts": RetentionRule._meta,
        "schedule": planned,
        "at": at,
        "is_dry_run": is_dry_run,
        "preview": (found := preview(at)),
        "kinds": kinds_of(found),
        "lives": [(sentence(life), people) for life, people in lives()],
        "somebody_new": sentence(life_of(None)),
        "installation": installation(),
        "holds": Hold.objects.lasting().count(),
        "may_run": request.user.has_perm(RUN),
    }
    return render(request, "admin/retention/overview.html", context)


def kinds_of(found: Preview) -> list[tuple[str, int]]:
    """Why they are over; some are for several reasons."""
    return [(words, found.kinds[kind]) for kind, words in KINDS.items() if found.kinds[kind]]


@require_POST
def run(request: HttpRequest) -> HttpResponse:
    """Have the purge done now."""
    _expect(request, RUN)
    if enqueue_purge():
        messages.success(request, "A purge has been started. This page tells how far it is.")
    else:
        messages.error(request, "The workers cannot be reached right now. Try again in a moment.")
    return redirect("admin:retention")


def _expect(request: HttpRequest, permission: str) -> None:
    if not request.user.has_perm(permission):
        raise PermissionDenied
