"""The account's own pages beside those of allauth."""

from typing import cast

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import tokens
from accounts.forms import NewTokenForm
from accounts.models import User

NEW_TOKEN = "new_token"  # noqa: S105  # the name of a cookie
SECONDS_TO_SHOW = 60


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@reauthentication_required  # type: ignore[untyped-decorator]  # allauth ships no types
def api_tokens(request: HttpRequest) -> HttpResponse:
    """List them, and make one: the page the answer leads to is the only one that ever shows it."""
    user = cast("User", request.user)
    form = NewTokenForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        return _led_to_list(tokens.issue(user, life=form.cleaned_data["life"]), is_secure=request.is_secure())
    made = request.get_signed_cookie(NEW_TOKEN, default="", max_age=SECONDS_TO_SHOW)
    context = {"form": form, "made": made, "tokens": tokens.tokens_of(user)}
    response = render(request, "account/tokens.html", context)
    if made:
        response.delete_cookie(NEW_TOKEN, path=reverse("account_tokens"))
    return response


def _led_to_list(token: str, *, is_secure: bool) -> HttpResponse:
    """Through a redirect, so that a reload makes no other token.

    The new one travels in a cookie that the next page takes away: the server keeps nothing but its hash.
    """
    response = redirect("account_tokens")
    response.set_signed_cookie(
        NEW_TOKEN,
        token,
        max_age=SECONDS_TO_SHOW,
        path=reverse("account_tokens"),
        httponly=True,
        samesite="Strict",
        secure=is_secure,
    )
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def revoke_token(request: HttpRequest, token_key: str) -> HttpResponse:
    """GET, where a log-in on the way here ends, takes nothing back."""
    if request.method == "POST" and tokens.revoke(cast("User", request.user), token_key):
        messages.success(request, "The token no longer works.")
    return redirect("account_tokens")
