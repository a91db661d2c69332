"""What all pages share: who may come in, what an htmx request is, how a number is read, what a refusal leads to."""

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar, cast
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control

from accounts.models import User
from conversations.refusals import ConversationBusy, KeyReused, Refusal

P = ParamSpec("P")
R = TypeVar("R", bound=HttpResponseBase)


def is_partial(request: HttpRequest) -> bool:
    """The page asks for a part of itself."""
    return request.headers.get("HX-Request") == "true"


def is_asked_from(request: HttpRequest, page: str) -> bool:
    """Whether an htmx request comes from the page of that path, with nothing chosen by a query; true when it does not
    say."""
    asked_from = urlsplit(request.headers.get("HX-Current-URL", ""))
    return asked_from.path in {"", page} and not asked_from.query


def to_newest(conversation_id: UUID) -> HttpResponse:
    """To the end of a conversation: without a script the browser would show its beginning."""
    return redirect(reverse("conversations:conversation", args=[conversation_id]) + "#newest")


def person(request: HttpRequest) -> User:
    """Who is logged in, for a view that lets nobody else in."""
    return cast("User", request.user)


def number(text: str) -> int | None:
    """A message's id as it was sent; nonsense means none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def ways_out(refusal: Refusal) -> dict[str, object]:
    """What the button beside a refusal leads to: the reply that is being written."""
    return {"code": refusal.code, "running": refusal.turn_id if isinstance(refusal, ConversationBusy) else None}


def problem_part(request: HttpRequest, refusal: Refusal, context: dict[str, Any]) -> HttpResponse:
    """What is wrong, for a part of a page; a form whose key has named something else is told to take another."""
    said = context | ways_out(refusal) | {"message": str(refusal)}
    response = render(request, "conversations/_problem.html", said, status=refusal.status)
    if isinstance(refusal, KeyReused):
        response["HX-Trigger"] = refusal.code
    return response


def for_people_logged_in(
    view: Callable[Concatenate[HttpRequest, P], R],
) -> Callable[Concatenate[HttpRequest, P], R | HttpResponse]:
    """Others are sent to log in; a part of a page is refused instead, so that the page can say why."""

    @functools.wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> R | HttpResponse:
        if request.user.is_authenticated:
            response = view(request, *args, **kwargs)
            # What was private is not read again by going back after logging out.
            patch_cache_control(response, private=True, no_store=True)
            return response
        if is_partial(request):
            return HttpResponse("Log in again.", status=401, content_type="text/plain")
        return redirect_to_login(request.get_full_path())

    return guarded
