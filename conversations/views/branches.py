"""Editing a question, going to another version, deleting one. Each works as a page and as an htmx part of it."""

from typing import Any, cast
from uuid import UUID, uuid4

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import User
from conversations import access, branches
from conversations.forms import QuestionForm, refused
from conversations.handing_over import remove_version, take_on
from conversations.models import Message, Turn
from conversations.prompts import checked_prompt, model_for
from conversations.refusals import Refusal
from conversations.streams import shown
from conversations.views.pages import branch_shown
from conversations.views.requests import for_people_logged_in, is_partial, number, problem_part, ways_out
from conversations.views.sidebar import sidebar_of
from conversations.views.versions import fork_anchor


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def edit(request: HttpRequest, conversation_id: UUID, message_id: int) -> HttpResponse:
    """The form for other words, and where they go."""
    question = access.message_of(request.user, conversation_id, message_id)
    if question.role != Message.Role.USER:
        raise Http404("Only a question can be edited.")
    if request.method != "POST":
        form = QuestionForm(initial={"text": question.text, "request_key": str(uuid4())})
        return _part_or_page(request, "edit", {"form": form, "message": question})
    form = QuestionForm(request.POST)
    try:
        _edit(question, form)
    except Refusal as refusal:
        return _refused(request, refusal, "edit", {"form": refused(form, refusal), "message": question})
    return branch_shown(request, conversation_id)


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def switch(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Go to the version that a button names. GET leads to the conversation, as after logging in on the way."""
    found = access.conversation_of(request.user, conversation_id)
    if request.method != "POST":
        return redirect("conversations:conversation", found.pk)
    message = access.message_of(request.user, found.pk, number(request.POST.get("message", "")) or 0)
    branches.switch(found.pk, message.pk)
    return branch_shown(request, found.pk, anchor=fork_anchor(message.parent_id))


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def remove(request: HttpRequest, conversation_id: UUID, message_id: int) -> HttpResponse:
    """Ask whether a version shall go, with how much; then delete it."""
    message = access.message_of(request.user, conversation_id, message_id)
    if request.method != "POST":
        return _part_or_page(request, "remove", {"message": message, "below": _messages_below(message)})
    try:
        remove_version(conversation_id, message.pk, by=cast("User", request.user))
    except Refusal as refusal:
        return _refused(request, refusal, "remove", {"message": message, "below": _messages_below(message)})
    return branch_shown(request, conversation_id, anchor=fork_anchor(message.parent_id))


@require_safe
@for_people_logged_in
def elsewhere(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """What a page says of a reply on another branch; empty once it has ended."""
    found = access.conversation_of(request.user, conversation_id)
    live = Turn.objects.live().filter(conversation=found).first()
    return render(request, "conversations/_elsewhere.html", {"conversation": found, "elsewhere": live})


def _edit(question: Message, form: QuestionForm) -> None:
    form.full_clean()
    asked = branches.edit(
        question,
        text=checked_prompt(form.cleaned_data.get("text", ""), question.conversation),
        request_key=form.request_key_or_new(),
        model=model_for(question.conversation),
        shown=shown,
    )
    take_on(asked)


def _messages_below(message: Message) -> int:
    return Message.objects.below(message.pk).count() - 1


def _part_or_page(request: HttpRequest, name: str, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    context |= {"conversation": context["message"].conversation}
    if is_partial(request):
        return render(request, f"conversations/_{name}.html", context, status=status)
    context |= {"sidebar": sidebar_of(request.user, current=context["conversation"].pk)}
    return render(request, f"conversations/{name}.html", context, status=status)


def _refused(request: HttpRequest, refusal: Refusal, name: str, context: dict[str, Any]) -> HttpResponse:
    """Say what is wrong where it was sent from; what was typed stays."""
    if is_partial(request):
        return problem_part(request, refusal, context)
    said = context | ways_out(refusal) | {"problem": str(refusal)}
    return _part_or_page(request, name, said, status=refusal.status)
