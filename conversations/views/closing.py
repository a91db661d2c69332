"""Closing one's account: a page of its own, which wants the password and says what goes."""

from typing import Any, cast

from allauth.account.decorators import reauthentication_required
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import User
from conversations.forms import CloseAccountForm
from conversations.handing_over import enqueue_finishing
from conversations.refusals import Refusal
from conversations.retention import closing
from conversations.views.requests import for_people_logged_in


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def close_account(request: HttpRequest) -> HttpResponse:
    """Who has no password, because they log in elsewhere, proves who they are as allauth has it."""
    has_password = cast("User", request.user).has_usable_password()
    return (_close if has_password else reauthentication_required(_close))(request)


def _close(request: HttpRequest) -> HttpResponse:
    user = cast("User", request.user)
    form = CloseAccountForm(user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            closing.close(user, by=user, is_told=form.cleaned_data["is_told"], now=timezone.now())
        except Refusal as refusal:
            form.add_error(None, str(refusal))
        else:
            enqueue_finishing()
            logout(request)
            return _forgotten_by_browser(redirect("conversations:account_closed"))
    return render(request, "conversations/close_account.html", {"form": form, **closing_context(user)})


def _forgotten_by_browser(response: HttpResponse) -> HttpResponse:
    """What was typed and not sent stands in the browser alone."""
    response["Clear-Site-Data"] = '"storage"'
    return response


def closing_context(user: User) -> dict[str, Any]:
    """What goes, and what is in its way."""
    counts = closing.preview([user.pk])
    return {
        "conversations": counts.get("conversation", 0),
        "messages_said": counts.get("message", 0),
        "kept": closing.why_kept(user),
    }


@require_safe
def account_closed(request: HttpRequest) -> HttpResponse:
    """Where whoever has closed their account ends up; it says nothing of anybody."""
    return render(request, "conversations/account_closed.html")
