"""Pinning and archiving: what an owner marks a conversation with."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from conversations import access
from conversations.models import Conversation
from conversations.refusals import KeepingNotAllowed
from conversations.retention import keeping
from conversations.views.requests import for_people_logged_in, is_partial
from conversations.views.sidebar import entry_of


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def pin(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """To the top of the list, with `on`, or back to its day. GET leads to the conversation, as after logging in."""
    found = access.conversation_of(request.user, conversation_id)
    if request.method == "POST":
        found.pinned = "on" in request.POST
        found.save(update_fields=["pinned"])
    return _shown(request, found, "Pinned to the top of the list." if found.pinned else "No longer pinned.")


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def archive(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Out of the list, with `on`, or back into it."""
    found = access.conversation_of(request.user, conversation_id)
    if request.method == "POST":
        found.archived = "on" in request.POST
        found.save(update_fields=["archived"])
    return _shown(request, found, "Moved to the archive." if found.archived else "Back in the list.")


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def keep(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Spared from the rules, with `on`, or no longer."""
    found = access.conversation_of(request.user, conversation_id)
    if request.method == "POST":
        try:
            keeping.keep(found, on="on" in request.POST)
        except KeepingNotAllowed as refusal:
            return _shown(request, found, str(refusal))
    return _shown(request, found, "Kept: no rule deletes it." if found.kept else "The rules hold for it again.")


def _shown(request: HttpRequest, conversation: Conversation, said: str) -> HttpResponse:
    """The bar with the menu again, and the line in the list where it now belongs."""
    if is_partial(request):
        entry = entry_of(conversation, is_current=True)
        context = {"conversation": conversation, "entry": entry, "oob": True, "said": said}
        return render(request, "conversations/_title.html", context)
    if request.method == "POST":
        messages.success(request, said)
    return redirect("conversations:conversation", conversation.pk)
