"""The summary of earlier messages: read, corrected, removed, switched off. In the panel, or each as a page."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from conversations import access, summaries
from conversations.forms import SummaryForm, SummarySwitchForm
from conversations.models import Conversation
from conversations.outlook import Outlook, context_ahead
from conversations.refusals import Held, SummaryChanged, SummaryEmpty, SummaryTooLong
from conversations.views.meters import or_refusal
from conversations.views.requests import for_people_logged_in, is_partial
from conversations.views.sidebar import sidebar_of
from conversations.views.summary_parts import SummaryPart, newest_part

CONTEXT_CHANGED = "context:changed"
"""What a page hears when the next request holds something else than before."""
CHANGED = "The summary was written anew since you began. Your words are not saved yet; the newer ones stand below."


@require_safe
@for_people_logged_in
def summary(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    with access.as_of_one_moment():
        found = access.conversation_of(request.user, conversation_id)
        return _shown(request, found)


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def correct(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """The form for the owner's words, and where they go. Without words it asks whether the summary shall be removed."""
    found = access.conversation_of(request.user, conversation_id)
    if request.method != "POST":
        return _form_shown(request, found)
    if summaries.current(found) is None:
        return _gone(request, found)
    form = SummaryForm(request.POST)
    form.full_clean()
    try:
        summaries.correct(found, form.text_typed, **form.seen)
    except SummaryEmpty:
        return _asked_to_remove(request, found)
    except SummaryTooLong as refusal:
        return _form_shown(request, found, form=form, problem=str(refusal), status=refusal.status)
    except SummaryChanged as refusal:
        return _form_shown(request, found, form=form, problem=CHANGED, is_older=True, status=refusal.status)
    return _changed(request, found, "Saved.")


@require_POST
@for_people_logged_in
def size(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """How much room a text takes while one types it."""
    found = access.conversation_of(request.user, conversation_id)
    return render(request, "conversations/_summary_size.html", _size(found, SummaryForm(request.POST).text_typed))


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def remove(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Say what it means and ask; then remove it."""
    found = access.conversation_of(request.user, conversation_id)
    if request.method != "POST":
        return _asked_to_remove(request, found)
    if summaries.current(found) is None:
        return _gone(request, found)
    try:
        summaries.remove(found)
    except Held as refusal:
        return _shown(request, found, done=str(refusal))
    return _changed(request, found, "Removed.")


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def switch(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """GET switches nothing and leads to the summary: whoever had to log in on the way here finds it there."""
    found = access.conversation_of(request.user, conversation_id)
    if request.method != "POST":
        return redirect("conversations:summary", found.pk)
    form = SummarySwitchForm(request.POST)
    form.full_clean()
    summaries.switch(found, on=form.cleaned_data["on"])
    return _changed(request, found, "Switched on." if found.summarises else "Switched off.")


def _shown(request: HttpRequest, conversation: Conversation, *, done: str = "") -> HttpResponse:
    return _part_or_page(request, conversation, "_summary", {"summary": _newest(conversation), "done": done})


def _changed(request: HttpRequest, conversation: Conversation, done: str) -> HttpResponse:
    """The summary as it is now; meter, line and menu follow."""
    if not is_partial(request):
        messages.success(request, done)
        return redirect("conversations:summary", conversation.pk)
    with access.as_of_one_moment():
        response = _shown(request, access.conversation_of(request.user, conversation.pk), done=done)
    response["HX-Trigger"] = CONTEXT_CHANGED
    return response


def _form_shown(
    request: HttpRequest,
    conversation: Conversation,
    *,
    form: SummaryForm | None = None,
    problem: str = "",
    is_older: bool = False,
    status: int = 200,
) -> HttpResponse:
    """With what was typed, if it was refused; `is_older`: the summary went on meanwhile, and is shown beside it."""
    part = _newest(conversation)
    if part.newest is None:
        return _gone(request, conversation)
    row = part.newest.row
    typed = form.text_typed if form else row.text
    # Sent again it takes the place of the one that is shown now.
    fresh = SummaryForm(initial={"through": row.through_message_id, "version": row.pk})
    seen = form if form and not is_older else fresh
    context = {"summary": part, "text": typed, "seen": seen, "problem": problem, "is_older": is_older}
    return _part_or_page(request, conversation, "_summary_form", context | _size(conversation, typed), status=status)


def _asked_to_remove(request: HttpRequest, conversation: Conversation) -> HttpResponse:
    part = _newest(conversation)
    if part.newest is None:
        return _gone(request, conversation)
    name = "_summary_remove" if part.newest.text else "_summary"
    return _part_or_page(request, conversation, name, {"summary": part})


def _gone(request: HttpRequest, conversation: Conversation) -> HttpResponse:
    """It went with messages that it stood for, or was never written. The conversation is there all the same."""
    return _shown(request, conversation, done="There is no summary to change.")


def _newest(conversation: Conversation) -> SummaryPart:
    ahead = or_refusal(lambda: context_ahead(conversation))
    return newest_part(conversation, ahead if isinstance(ahead, Outlook) else None)


def _size(conversation: Conversation, text: str) -> dict[str, int]:
    tokens, limit = summaries.measured(conversation, text)
    return {"tokens": tokens, "limit": limit}


def _part_or_page(
    request: HttpRequest, conversation: Conversation, name: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    part = f"conversations/{name}.html"
    context |= {"conversation": conversation, "in_panel": is_partial(request), "part": part}
    if is_partial(request):
        return render(request, part, context, status=status)
    context |= {"sidebar": sidebar_of(request.user, current=conversation.pk)}
    return render(request, "conversations/summary.html", context, status=status)
