"""What the model will see, and what it saw: a panel beside the thread, a page without a script; the meter alone."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from conversations import access
from conversations.forms import ComposerForm, ModelForm
from conversations.meaning import embedded_between
from conversations.models import Conversation
from conversations.outlook import Outlook, context_ahead, recorded_context
from conversations.prompts import check_system_prompt
from conversations.refusals import PromptTooLong, SystemPromptTooLong
from conversations.views.meters import Ahead, divider_of, meter_of, or_refusal
from conversations.views.model_choice import model_choice
from conversations.views.pages import conversation_context, home_context, refusal_shown
from conversations.views.panels import panel_of
from conversations.views.requests import for_people_logged_in, is_partial
from conversations.views.sidebar import sidebar_of


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
@embedded_between
def will_see(request: HttpRequest, conversation_id: UUID | None = None) -> HttpResponse:
    """Of the question in the form, which is only looked at: nothing is stored."""
    form = _form(request)
    with access.as_of_one_moment():
        found = _conversation(request, conversation_id)
        ahead = or_refusal(lambda: context_ahead(found, form.text_typed, model=form.first_model))
        return _shown(request, found, ahead, {"composer_form": form})


@require_safe
@for_people_logged_in
def saw(request: HttpRequest, turn_id: UUID) -> HttpResponse:
    """Of a reply; one that no worker has begun has no record."""
    with access.as_of_one_moment():
        turn = access.turn_of(request.user, turn_id)
        return _shown(request, turn.conversation, recorded_context(turn), {"turn": turn})


@require_http_methods(["POST"])
@for_people_logged_in
def meter(request: HttpRequest, conversation_id: UUID | None = None) -> HttpResponse:
    """The meter while one types, with where the window then begins, and with the panel when that is open.

    A provider is not asked what a draft means each time: a question that is sent or looked at on purpose goes there.
    """
    form = _form(request)
    with access.as_of_one_moment():
        found = _conversation(request, conversation_id)
        parts = _parts(request, found, form.text_typed, model=form.first_model)
        return render(request, "conversations/_ahead.html", parts)


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def choose_model(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Take another model for what is asked from now on. What was typed stays."""
    found = access.conversation_of(request.user, conversation_id)
    composer, choice = _form(request), ModelForm(request.POST or None, instance=found)
    if request.method == "POST" and choice.is_valid():
        try:
            check_system_prompt(found.system_prompt, model=found.model)
        except SystemPromptTooLong as refusal:
            found.refresh_from_db(fields=["model"])
            return refusal_shown(request, found, composer, refusal)
        choice.save()
    if not is_partial(request) and not composer.text_typed.strip():
        return redirect("conversations:conversation", found.pk)
    with access.as_of_one_moment():
        found = access.conversation_of(request.user, conversation_id)
        if is_partial(request):
            parts = _parts(request, found, composer.text_typed) | {"model_choice": model_choice(found)}
            return render(request, "conversations/_model_chosen.html", parts)
        return render(request, "conversations/conversation.html", conversation_context(request, found, form=composer))


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def choose_first_model(request: HttpRequest) -> HttpResponse:
    """The same before there is a conversation: the choice goes with the first question. What was typed stays."""
    if request.method != "POST":
        return redirect("conversations:home")
    chosen = request.POST.copy()
    chosen["first_model"] = request.POST.get("model", "")
    composer = ComposerForm(chosen)
    if is_partial(request):
        parts = _parts(request, None, composer.text_typed, model=composer.first_model)
        parts |= {"model_choice": model_choice(Conversation(model=composer.first_model))}
        return render(request, "conversations/_model_chosen.html", parts)
    return render(request, "conversations/home.html", home_context(request, composer))


def _form(request: HttpRequest) -> ComposerForm:
    return ComposerForm(request.POST) if request.method == "POST" else ComposerForm.fresh()


def _conversation(request: HttpRequest, conversation_id: UUID | None) -> Conversation | None:
    return access.conversation_of(request.user, conversation_id) if conversation_id else None


def _parts(request: HttpRequest, conversation: Conversation | None, text: str, *, model: str = "") -> dict[str, Any]:
    ahead = or_refusal(lambda: context_ahead(conversation, text, model=model))
    parts: dict[str, Any] = {"conversation": conversation, "meter": meter_of(ahead), "oob": True}
    if conversation and not isinstance(ahead, PromptTooLong):
        # The page finds its place: only it knows which turns it shows.
        parts |= {"divider": divider_of(ahead, [ahead.record.start])}
    if request.POST.get("panel"):
        parts |= _panel(conversation, ahead) | {"in_panel": True}
    return parts


def _panel(conversation: Conversation | None, ahead: Ahead | None) -> dict[str, Any]:
    if isinstance(ahead, Outlook):
        return {"panel": panel_of(conversation, ahead)}
    return {"panel": None, "refusal": ahead}


def _shown(
    request: HttpRequest, conversation: Conversation | None, ahead: Ahead | None, context: dict[str, Any]
) -> HttpResponse:
    context |= {"conversation": conversation, "in_panel": is_partial(request), **_panel(conversation, ahead)}
    if is_partial(request):
        return render(request, "conversations/_panel.html", context)
    current = conversation.pk if conversation else None
    context |= {
        "sidebar": sidebar_of(request.user, current=current),
        "parent": conversation.head_id if conversation else None,
    }
    return render(request, "conversations/context.html", context)
