"""The account's own pages beside those of allauth."""

from typing import cast

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts import tokens
from accounts.forms import NewTokenForm
from accounts.models import User

NEW_TOKEN = "new_token"  # noqa: S105  # the name of a place
"""In the session: a token that was made and not shown yet."""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@reauthentication_required  # type: ignore[untyped-decorator]  # allauth ships no types
def api_tokens(request: HttpRequest) -> HttpResponse:
    """List them, and make one: the page the answer leads to is the only one that ever shows it."""
    user = cast("User", request.user)
    form = NewTokenForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        # Through a redirect, so that a reload makes no other; the session keeps it until that one page is read.
        request.session[NEW_TOKEN] = tokens.issue(user, life=form.cleaned_data["life"])
        return redirect("account_tokens")
    made = request.session.pop(NEW_TOKEN, "") if request.method == "GET" else ""
    return render(request, "account/tokens.html", {"form": form, "made": made, "tokens": tokens.tokens_of(user)})


@require_POST
@login_required
def revoke_token(request: HttpRequest, token_key: str) -> HttpResponse:
    if tokens.revoke(cast("User", request.user), token_key):
        messages.success(request, "The token no longer works.")
    return redirect("account_tokens")
