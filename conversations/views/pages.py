"""Whole pages: a new conversation, a conversation, the list, a new name."""

from typing import Any, cast
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.models import User
from conversations import access
from conversations.forms import BEGINNING, ComposerForm, refused
from conversations.listing import BadCursor
from conversations.models import Conversation
from conversations.outlook import context_ahead, live_context, next_context
from conversations.refusals import Refusal
from conversations.retention.lives import life_of
from conversations.retention.wording import length
from conversations.tree import is_on_branch
from conversations.views.meters import Ahead, divider_of, meter_of, or_refusal
from conversations.views.model_choice import model_choice
from conversations.views.requests import (
    for_people_logged_in,
    is_asked_from,
    is_partial,
    number,
    problem_part,
    to_newest,
    ways_out,
)
from conversations.views.sidebar import entry_of, sidebar_of
from conversations.views.thread import Place, Thread, thread_of


def home_context(request: HttpRequest, form: ComposerForm) -> dict[str, Any]:
    lasts = life_of(cast("User", request.user)).temporary
    return {
        "temporary_lasts": length(lasts) if lasts else "",
        "composer_form": form,
        "sidebar": sidebar_of(request.user),
        "meter": meter_of(or_refusal(lambda: next_context(None, form.text_typed, model=form.first_model))),
        "model_choice": model_choice(Conversation(model=form.first_model)),
    }


def conversation_context(
    request: HttpRequest, conversation: Conversation, *, form: ComposerForm | None = None, place: Place | None = None
) -> dict[str, Any]:
    """Everything a conversation's page shows; `form` when one was sent and refused."""
    form = form or ComposerForm.fresh()
    return branch_context(conversation, text=form.text_typed, place=place) | {
        "composer_form": form,
        "sidebar": sidebar_of(request.user, current=conversation.pk),
        "model_choice": model_choice(conversation),
    }


def branch_context(conversation: Conversation, *, text: str = "", place: Place | None = None) -> dict[str, Any]:
    """The branch that the conversation is on, with what the model would be sent of it."""
    thread = thread_of(conversation, place)
    ahead = _ahead(conversation, thread, text)
    questions = [turn.prompt.pk for turn in thread.turns]
    return thread_context(conversation, thread) | {
        "divider": divider_of(ahead, questions),
        "meter": meter_of(ahead),
    }


def thread_context(conversation: Conversation, thread: Thread) -> dict[str, Any]:
    return {
        "conversation": conversation,
        "turns": thread.turns,
        "older_before": thread.older_before,
        "live_turn": thread.live_turn,
        "elsewhere": thread.elsewhere,
        "is_newest_page": thread.is_newest_page,
        "parent": conversation.head_id,
    }


def _ahead(conversation: Conversation, thread: Thread, text: str) -> Ahead:
    """A live turn that is not on the page may be on its branch all the same, behind a page of older turns."""
    if live := thread.live_turn:
        return or_refusal(lambda: live_context(live.turn))
    return or_refusal(lambda: (context_ahead if thread.elsewhere else next_context)(conversation, text))


def branch_shown(request: HttpRequest, conversation_id: UUID, *, anchor: str = "newest") -> HttpResponse:
    """The branch that the conversation is on, in the place of the one that the page shows; a page without a composer,
    where nobody could stop the reply or go on, is left for one with it."""
    page = reverse("conversations:conversation", args=[conversation_id])
    if not is_partial(request):
        return redirect(f"{page}#{anchor}")
    if not is_asked_from(request, page):
        return HttpResponse(headers={"HX-Redirect": f"{page}#{anchor}"})
    with access.as_of_one_moment():
        found = access.conversation_of(request.user, conversation_id)
        context = branch_context(found) | {"entry": entry_of(found, is_current=True)}
        response = render(request, "conversations/_branch.html", context)
    # Also for those who asked to add to it, or for less.
    response["HX-Reswap"] = "innerHTML settle:0ms"
    if request.headers.get("HX-Target") != "thread":
        response["HX-Retarget"] = "#thread"
    return response


def refusal_shown(
    request: HttpRequest, conversation: Conversation, form: ComposerForm, refusal: Refusal
) -> HttpResponse:
    """Say what is wrong where it was sent from; the text stays in the form."""
    form.full_clean()
    seen = form.cleaned_data.get("parent") if form.is_bound else None
    branch_from = {"branch_from": seen or BEGINNING}
    if is_partial(request):
        return problem_part(request, refusal, branch_from | {"conversation": conversation})
    with access.as_of_one_moment():
        page = conversation_context(request, conversation, form=refused(form, refusal))
        page |= branch_from | ways_out(refusal)
        return render(request, "conversations/conversation.html", page, status=refusal.status)


@require_safe
@for_people_logged_in
def conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """The newest turns; those before a message, or those up to one, unless a reply among them is being written: the
    newest page has what stops it."""
    place = Place(*(number(request.GET.get(name, "")) for name in ("before", "through")))
    with access.as_of_one_moment():
        found = access.conversation_of(request.user, conversation_id)
        if is_partial(request):
            # The line where the window begins is on the page already, and finds its place.
            return render(request, "conversations/_turns.html", thread_context(found, thread_of(found, place)))
        context = conversation_context(request, found, place=place) | _other_branch(found, place)
        if context["live_turn"] and not context["is_newest_page"]:
            return to_newest(found.pk)
        return render(request, "conversations/conversation.html", context)


def _other_branch(conversation: Conversation, place: Place) -> dict[str, Any]:
    """What a page says that shows a branch which its owner is not on: looking at it switches nothing."""
    if place.through is None or is_on_branch(place.through, head_id=conversation.head_id):
        return {}
    return {"other_branch": place.through}


@require_safe
@for_people_logged_in
def sidebar(request: HttpRequest) -> HttpResponse:
    current = request.GET.get("current", "")
    try:
        shown = sidebar_of(request.user, current=_uuid(current), after=request.GET.get("after", ""))
    except BadCursor:  # Made under another key: the list begins anew.
        return _reloaded() if is_partial(request) else redirect("conversations:sidebar")
    template = "conversations/_sidebar_entries.html" if is_partial(request) else "conversations/list.html"
    return render(request, template, {"sidebar": shown})


def _reloaded() -> HttpResponse:
    response = HttpResponse(status=204)
    response["HX-Refresh"] = "true"
    return response


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
