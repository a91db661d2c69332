"""The title of a conversation: typed by its owner, or found by a model while the page looks on."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from conversations import access, titles
from conversations.forms import RenameForm
from conversations.handing_over import enqueue_title
from conversations.models import Conversation
from conversations.refusals import TooManySuggestions
from conversations.views.requests import for_people_logged_in, is_partial
from conversations.views.sidebar import entry_of, sidebar_of

MOST_LOOKS = 12
"""How often a page looks whether a title was found, two seconds apart."""


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def rename(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    found = access.conversation_of(request.user, conversation_id)
    form = RenameForm(request.POST or None, instance=found)
    if request.method == "POST" and form.is_valid():
        form.save()
        if is_partial(request):
            return render(request, "conversations/_title.html", _shown(found))
        return redirect("conversations:conversation", found.pk)
    context = {"conversation": found, "form": form, "is_partial": is_partial(request)}
    if is_partial(request):
        return render(request, "conversations/_rename.html", context)
    return render(request, "conversations/rename.html", context | {"sidebar": sidebar_of(request.user)})


@require_safe
@for_people_logged_in
def title(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """The title as it is now, once a model was asked for it or has been waited for long enough; until then, to look
    again. `tries` counts what models were asked for before, `looks` how often was looked since."""
    tries, looks = _number(request, "tries"), _number(request, "looks")
    with access.as_of_one_moment():
        found = access.conversation_of(request.user, conversation_id)
        if titles.tries(found.pk) <= tries and looks < MOST_LOOKS:
            awaited = {"conversation": found} | awaiting(tries, looks=looks + 1)
            return render(request, "conversations/_title_awaited.html", awaited)
        return render(request, "conversations/_title.html", _shown(found) | {"title_oob": True})


@require_POST
@for_people_logged_in
def suggest(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Have a model find another title; the page looks for it."""
    found = access.conversation_of(request.user, conversation_id)
    try:
        titles.expect_pace(found.owner_id)
    except TooManySuggestions as refusal:
        return HttpResponse(str(refusal), status=refusal.status, content_type="text/plain; charset=utf-8")
    tries = titles.tries(found.pk)
    awaited = awaiting(tries) if enqueue_title(found.pk) else {}
    if not is_partial(request):
        return redirect("conversations:conversation", found.pk)
    return render(request, "conversations/_title.html", _shown(found) | awaited)


def awaiting(tries: int, *, looks: int = 0) -> dict[str, Any]:
    """For a page that shows a title which will be another soon."""
    return {"awaits_title": {"tries": tries, "looks": looks}}


def _shown(conversation: Conversation) -> dict[str, Any]:
    return {"conversation": conversation, "entry": entry_of(conversation, is_current=True), "oob": True}


def _number(request: HttpRequest, name: str) -> int:
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0  # digits
