"""Taking away, from the pages: one conversation as a file, everything as a ZIP."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from conversations import access
from conversations.handing_over import enqueue_export
from conversations.models import Export
from conversations.refusals import ExportUnderWay, Refusal
from conversations.transfer import downloads, exports
from conversations.transfer.formats import FORMATS
from conversations.views.requests import for_people_logged_in, is_partial, person

SECTION = "conversations/data/_export.html"

P = ParamSpec("P")


def or_sentence(
    view: Callable[Concatenate[HttpRequest, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """A file that is refused is answered with why, in plain words: no page stands around a download."""

    @wraps(view)
    def answered(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except Refusal as refusal:
            return HttpResponse(str(refusal), status=refusal.status, content_type="text/plain; charset=utf-8")

    return answered


@require_safe
@for_people_logged_in
@or_sentence
def conversation(request: HttpRequest, conversation_id: UUID, name: str) -> HttpResponseBase:
    chosen = FORMATS.get(name)
    if chosen is None:
        raise Http404("A conversation is exported as one of: " + ", ".join(FORMATS))
    return downloads.conversation_file(person(request), conversation_id, chosen, now=timezone.now())


@require_POST
@for_people_logged_in
def make(request: HttpRequest) -> HttpResponse:
    """Have everything exported; who asks twice is shown the one that is being made."""
    problem = ""
    try:
        enqueue_export(exports.request(person(request), now=timezone.now()).pk)
    except ExportUnderWay:
        pass
    except Refusal as refusal:
        problem = str(refusal)
    return _shown(request, problem)


@require_safe
@for_people_logged_in
def section(request: HttpRequest) -> HttpResponse:
    """As it is now: the page asks while one is being made."""
    return _shown(request)


@require_safe
@for_people_logged_in
@or_sentence
def download(request: HttpRequest, export_id: UUID) -> HttpResponseBase:
    return downloads.export_file(access.export_of(request.user, export_id, now=timezone.now()))


@require_POST
@for_people_logged_in
def remove(request: HttpRequest, export_id: UUID) -> HttpResponse:
    exports.remove(access.export_of(request.user, export_id, now=timezone.now()))
    return _shown(request)


def export_context(request: HttpRequest) -> dict[str, Any]:
    """What the section shows: one query."""
    found = list(access.exports_of(request.user, now=timezone.now()))
    shown = [ExportRow(export) for export in found]
    return {
        "exports": [row for row in shown if not row.export.is_under_way],
        "export_under_way": next((row for row in shown if row.export.is_under_way), None),
        "export_days": settings.POCKETCHAT_EXPORT_DAYS,
    }


@dataclass(frozen=True)
class ExportRow:
    export: Export

    @property
    def error(self) -> str:
        return exports.sentence_of(self.export)

    @property
    def is_counted(self) -> bool:
        """How much there is to write is known."""
        return self.export.status == Export.Status.RUNNING and self.export.total > 0


def _shown(request: HttpRequest, problem: str = "") -> HttpResponse:
    """The section, for a page that follows; the whole page otherwise."""
    if is_partial(request):
        return render(request, SECTION, export_context(request) | {"export_problem": problem})
    if problem:
        messages.error(request, problem)
    return redirect(reverse("conversations:data") + "#data-export")
