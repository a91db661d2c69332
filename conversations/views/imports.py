"""Bringing in, from the pages: a file is sent, read in the background, and what became of it is shown."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from conversations import access
from conversations.handing_over import enqueue_import
from conversations.models import Import
from conversations.refusals import FileMissing, Refusal
from conversations.transfer.incoming import imports, results
from conversations.transfer.incoming.formats import label_of
from conversations.views.requests import for_people_logged_in, is_partial, number, person

SECTION = "conversations/data/_import.html"
SHOWN = 5
"""Imports on the page of all that is kept, the newest."""


@require_POST
@for_people_logged_in
def take(request: HttpRequest) -> HttpResponse:
    """A script that shows how much is sent is told what is wrong; without one the page says it."""
    try:
        sent = request.FILES.get("file")
        if sent is None:
            raise FileMissing
        run = imports.take(
            person(request),
            sent.chunks(),
            file_name=sent.name or "",
            now=timezone.now(),
            is_dry_run="dry_run" in request.POST,
            takes_instructions="instructions" in request.POST,
        )
    except Refusal as refusal:
        if request.headers.get("X-Requested-With") == "XMLHttpRequest":
            return HttpResponse(str(refusal), status=refusal.status, content_type="text/plain; charset=utf-8")
        messages.error(request, str(refusal))
        return redirect(reverse("conversations:data") + "#data-import")
    enqueue_import(run.pk)
    return redirect("conversations:import", run.pk)


@require_safe
@for_people_logged_in
def one(request: HttpRequest, import_id: UUID) -> HttpResponse:
    """What became of a file, a page of conversations at a time; of one under way, what is known by now."""
    run = access.import_of(request.user, import_id, now=timezone.now())
    after = number(request.GET.get("after", "")) or 0
    page = results.page_of(run, person(request), after=after)
    context = {"row": ImportRow(run), "results": page.rows, "next": page.next_number, "after": after}
    template = "conversations/import/_outcome.html" if is_partial(request) else "conversations/import/one.html"
    return render(request, template, context)


@require_POST
@for_people_logged_in
def remove(request: HttpRequest, import_id: UUID) -> HttpResponse:
    """Give up what is under way, or forget what is over; what was brought in stays."""
    imports.remove(access.import_of(request.user, import_id, now=timezone.now()))
    return redirect(reverse("conversations:data") + "#data-import")


def import_context(request: HttpRequest) -> dict[str, Any]:
    """What the section shows: one query."""
    found = list(access.imports_of(request.user, now=timezone.now())[:SHOWN])
    shown = [ImportRow(run) for run in found]
    return {
        "imports": shown,
        "import_under_way": next((row for row in shown if row.run.is_under_way), None),
        "import_bytes": settings.POCKETCHAT_IMPORT_BYTES,
        "import_megabytes": max(1, settings.POCKETCHAT_IMPORT_BYTES // 1_000_000),
    }


@dataclass(frozen=True)
class ImportRow:
    run: Import

    @property
    def format(self) -> str:
        return label_of(self.run.source)

    @property
    def name(self) -> str:
        return self.run.file_name or "A file"
