"""The page "Your data": what is kept of a person, and what they can do about it; a section for each capability."""

from typing import Any, cast

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.models import User
from conversations import access
from conversations.retention.lives import life_of
from conversations.views.exports import export_context
from conversations.views.imports import import_context
from conversations.views.requests import for_people_logged_in
from conversations.views.retention import retention_section


@require_safe
@for_people_logged_in
def data(request: HttpRequest) -> HttpResponse:
    life = life_of(cast("User", request.user))
    transfers = export_context(request) | import_context(request)
    context = _bin(request) | {"bin_days": life.in_bin.days} | retention_section(request, life) | transfers
    return render(request, "conversations/data.html", context)


def _bin(request: HttpRequest) -> dict[str, Any]:
    """How many conversations there are, and where."""
    counts = access.conversations_of(request.user).aggregate(
        conversations=Count("pk"), archived=Count("pk", filter=Q(archived=True))
    )
    return counts | {"binned": access.bin_of(request.user).count()}
