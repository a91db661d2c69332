"""Asking, stopping, asking again. Each works as a form that reloads the page and as an htmx part of it."""

import time
from typing import cast
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import User
from conversations import access, asking, branches, titles
from conversations.forms import ComposerForm, RetryForm, refused
from conversations.handing_over import stop_turn, take_on
from conversations.models import Conversation, Turn
from conversations.prompts import checked_prompt, model_for
from conversations.refusals import Refusal
from conversations.retention.keeping import check_temporary
from conversations.tree import is_on_branch
from conversations.views.pages import branch_shown, home_context, refusal_shown
from conversations.views.requests import for_people_logged_in, is_partial, to_newest
from conversations.views.sidebar import entry_of
from conversations.views.thread import TurnView, turn_view
from conversations.views.titles import awaiting

STOP_TAKES = 1.2
"""Seconds at most, when the worker lives: its next sign of life, and closing the provider's connection."""


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def home(request: HttpRequest) -> HttpResponse:
    """The page of a new conversation, and where its first question goes."""
    if request.method != "POST":
        return render(request, "conversations/home.html", home_context(request, ComposerForm.fresh()))
    form = ComposerForm(request.POST)
    try:
        asked = _start(request, form)
    except Refusal as refusal:
        page = home_context(request, refused(form, refusal))
        return render(request, "conversations/home.html", page, status=refusal.status)
    return to_newest(asked.turn.conversation_id)


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def send(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Ask in a conversation. GET leads to it: whoever had to log in on the way here finds it open again."""
    conversation = access.conversation_of(request.user, conversation_id)
    if request.method != "POST":
        return to_newest(conversation.pk)
    form = ComposerForm(request.POST)
    try:
        asked = _ask(conversation, form)
    except Refusal as refusal:
        return refusal_shown(request, conversation, form, refusal)
    return branch_shown(request, conversation.pk) if form.is_branch else _shown(request, asked)


@require_safe
@for_people_logged_in
def turn(request: HttpRequest, turn_id: UUID) -> HttpResponse:
    """One turn as it stands; the page asks when its events have ended."""
    with access.as_of_one_moment():
        found = access.turn_of(request.user, turn_id)
        view = turn_view(found)
        if _brought_nothing(view):
            return branch_shown(request, found.conversation_id)
        newest = found.conversation.head_id if view.is_newest else None
        entry = entry_of(found.conversation, is_current=True)
        context = {"turn": view, "conversation": found.conversation, "oob_parent": newest, "entry": entry}
        if titles.is_due(found.conversation_id):
            context |= awaiting(titles.tries(found.conversation_id))
        return render(request, "conversations/_turn.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def stop(request: HttpRequest, turn_id: UUID) -> HttpResponse:
    """GET stops nothing and leads to the conversation, as in `send`."""
    found = access.turn_of(request.user, turn_id)
    if request.method == "POST":
        stop_turn(found)
    if is_partial(request):
        return HttpResponse(status=204)
    if request.method == "POST":
        _wait_for_end(found)
    return to_newest(found.conversation_id)


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def retry(request: HttpRequest, turn_id: UUID) -> HttpResponse:
    """Have a question answered again; pressing twice asks once, for the key is the button's own."""
    found = access.turn_of(request.user, turn_id)
    if request.method != "POST":
        return to_newest(found.conversation_id)
    form = RetryForm(request.POST)
    form.full_clean()
    try:
        _retry(found, form)
    except Refusal as refusal:
        return refusal_shown(request, found.conversation, ComposerForm.emptied(found.conversation.head_id), refusal)
    return branch_shown(request, found.conversation_id)


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def show(request: HttpRequest, turn_id: UUID) -> HttpResponse:
    """Go to the branch of a reply."""
    found = access.turn_of(request.user, turn_id)
    if request.method == "POST":
        branches.show(found)
    return branch_shown(request, found.conversation_id)


def _wait_for_end(turn: Turn) -> None:
    """Else a page without a script would say that the reply is being written, and come again a second later."""
    deadline = time.monotonic() + STOP_TAKES
    while Turn.objects.live().filter(pk=turn.pk).exists() and time.monotonic() < deadline:
        time.sleep(0.1)


def _brought_nothing(view: TurnView) -> bool:
    """The page shows a turn that left no message, while the conversation is back where it was before."""
    if view.is_live or view.answers or view.is_newest:
        return False
    return is_on_branch(view.prompt.pk, head_id=view.turn.conversation.head_id)


def _start(request: HttpRequest, form: ComposerForm) -> asking.Asked:
    form.full_clean()
    if form.is_temporary:
        check_temporary(cast("User", request.user))
    first = Conversation(model=form.first_model)
    text = checked_prompt(form.cleaned_data.get("text", ""), first)
    return take_on(
        asking.start(
            cast("User", request.user),
            text=text,
            request_key=form.request_key_or_new(),
            model=model_for(first),
            goes_on_with=first.model,
            is_temporary=form.is_temporary,
        )
    )


def _ask(conversation: Conversation, form: ComposerForm) -> asking.Asked:
    form.full_clean()
    asked = asking.ask(
        conversation.pk,
        text=checked_prompt(form.cleaned_data.get("text", ""), conversation),
        request_key=form.request_key_or_new(),
        parent_id=form.parent_id,
        model=model_for(conversation),
        is_branch=form.is_branch,
    )
    return take_on(asked)


def _retry(turn: Turn, form: RetryForm) -> asking.Asked:
    key = form.request_key_or_new()
    if form.cleaned_data["use_default"]:
        return take_on(asking.retry(turn, request_key=key, model=model_for(None), goes_on_with=""))
    return take_on(asking.retry(turn, request_key=key, model=model_for(turn.conversation)))


def _shown(request: HttpRequest, asked: asking.Asked) -> HttpResponse:
    if not is_partial(request):
        return to_newest(asked.turn.conversation_id)
    with access.as_of_one_moment():
        asked_turn = access.turn_of(request.user, asked.turn.pk)
        context = {
            "turn": turn_view(asked_turn),
            "conversation": asked_turn.conversation,
            "oob_parent": asked_turn.conversation.head_id,
            "was_asked": True,
            "entry": entry_of(asked_turn.conversation, is_current=True),
        }
        return render(request, "conversations/_turn.html", context)
