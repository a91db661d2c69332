"""Whole pages: a new conversation, a conversation, the list, a new name."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from conversations import access
from conversations.forms import ComposerForm, RenameForm
from conversations.models import Conversation
from conversations.prompts import model_for
from conversations.providers.registry import chat_model_info
from conversations.views.requests import for_people_logged_in, is_partial, number
from conversations.views.sidebar import entry_of, sidebar_of
from conversations.views.thread import thread_of


def home_context(request: HttpRequest, form: ComposerForm) -> dict[str, Any]:
    return {
        "composer_form": form,
        "sidebar": sidebar_of(request.user),
        "model_label": chat_model_info(model_for(None)).label,
    }


def conversation_context(
    request: HttpRequest, conversation: Conversation, *, form: ComposerForm | None = None, before: int | None = None
) -> dict[str, Any]:
    """Everything a conversation's page shows; `form` when one was sent and refused."""
    return thread_context(conversation, before=before) | {
        "composer_form": form or ComposerForm.fresh(),
        "sidebar": sidebar_of(request.user, current=conversation.pk),
        "model_label": chat_model_info(model_for(conversation)).label,
    }


def thread_context(conversation: Conversation, *, before: int | None = None) -> dict[str, Any]:
    thread = thread_of(conversation, before=before)
    return {
        "conversation": conversation,
        "turns": thread.turns,
        "older_before": thread.older_before,
        "live_turn": thread.live_turn,
        "elsewhere": thread.elsewhere,
        "parent": conversation.head_id,
    }


def branch_shown(request: HttpRequest, conversation_id: UUID, *, anchor: str = "newest") -> HttpResponse:
    """The branch that the conversation is on, in the place of the one that the page shows."""
    if not is_partial(request):
        page = reverse("conversations:conversation", args=[conversation_id])
        return redirect(f"{page}#{anchor}")
    with access.as_of_one_moment():
        found = access.conversation_of(request.user, conversation_id)
        context = thread_context(found) | {"entry": entry_of(found, is_current=True)}
        response = render(request, "conversations/_branch.html", context)
    # Also for those who asked to add to it, or for less.
    response["HX-Reswap"] = "innerHTML settle:0ms"
    if request.headers.get("HX-Target") != "thread":
        response["HX-Retarget"] = "#thread"
    return response


@require_safe
@for_people_logged_in
def conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    before = number(request.GET.get("before", ""))
    with access.as_of_one_moment():
        found = access.conversation_of(request.user, conversation_id)
        if is_partial(request):
            return render(request, "conversations/_turns.html", thread_context(found, before=before))
        return render(request, "conversations/conversation.html", conversation_context(request, found, before=before))


@require_safe
@for_people_logged_in
def sidebar(request: HttpRequest) -> HttpResponse:
    current = request.GET.get("current", "")
    context = {"sidebar": sidebar_of(request.user, current=_uuid(current), after=request.GET.get("after", ""))}
    template = "conversations/_sidebar_entries.html" if is_partial(request) else "conversations/list.html"
    return render(request, template, context)


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def rename(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    found = access.conversation_of(request.user, conversation_id)
    form = RenameForm(request.POST or None, instance=found)
    if request.method == "POST" and form.is_valid():
        form.save()
        if is_partial(request):
            context = {"conversation": found, "entry": entry_of(found, is_current=True), "oob": True}
            return render(request, "conversations/_title.html", context)
        return redirect("conversations:conversation", found.pk)
    context = {"conversation": found, "form": form, "is_partial": is_partial(request)}
    if is_partial(request):
        return render(request, "conversations/_rename.html", context)
    return render(request, "conversations/rename.html", context | {"sidebar": sidebar_of(request.user)})


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
