"""How long a person's conversations are kept: said in a sentence, chosen within limits, and told to everybody."""

from collections.abc import Iterator
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import User
from conversations.forms import OwnRetentionForm
from conversations.models import EffectiveLife
from conversations.providers.registry import offered_models
from conversations.refusals import BeyondLimits, ChangeNotConfirmed
from conversations.retention import changes, own
from conversations.retention.lives import installation, life_of
from conversations.retention.wording import sentence
from conversations.views.requests import for_people_logged_in


def retention_section(
    request: HttpRequest, life: EffectiveLife, form: OwnRetentionForm | None = None
) -> dict[str, Any]:
    """What the section of "Your data" shows; `form` when one was sent and refused."""
    form = form or OwnRetentionForm(initial=own.chosen(cast("User", request.user)))
    return {
        "retention_sentence": sentence(life),
        "retention_form": form,
        "retention_fields": list(_limited(form, own.limits(life))),
        "is_held": life.is_held,
    }


@require_http_methods(["GET", "HEAD", "POST"])
@for_people_logged_in
def choose(request: HttpRequest) -> HttpResponse:
    """Show what a choice deletes, then make it."""
    user = cast("User", request.user)
    if request.method != "POST":
        return redirect("conversations:data")
    if "confirm" in request.POST:
        return _chosen(request, user)
    form = OwnRetentionForm(request.POST)
    if not form.is_valid():
        return _again(request, form)
    # A choice that the rules leave no room for has no field now, and stays.
    says = own.chosen(user) | {name: form.cleaned_data[name] for name in form.fields if name in request.POST}
    try:
        change = own.own_change(user, says)
    except BeyondLimits as refusal:
        form.add_error(refusal.field, str(refusal))
        return _again(request, form)
    proposal = changes.propose(change, by=user, now=timezone.now())
    ((then, _),) = proposal.lives
    return render(request, "conversations/retention_confirm.html", {"proposal": proposal, "then": then})


@require_safe
def privacy(request: HttpRequest) -> HttpResponse:
    """The privacy notice, which says what the rules say."""
    user = request.user if isinstance(request.user, User) else None
    context = {
        "sentence": sentence(life_of(user)),
        "installation": installation(),
        "providers": sorted({name.partition(":")[0] for name in offered_models()}),
    }
    return render(request, "conversations/privacy.html", context)


def _chosen(request: HttpRequest, user: User) -> HttpResponse:
    try:
        changes.confirm(request.POST["confirm"], by=user, now=timezone.now())
    except ChangeNotConfirmed as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, sentence(life_of(user)))
    return redirect("conversations:data")


def _again(request: HttpRequest, form: OwnRetentionForm) -> HttpResponse:
    return render(
        request,
        "conversations/retention.html",
        retention_section(request, life_of(cast("User", request.user)), form),
        status=422,
    )


def _limited(
    form: OwnRetentionForm, limits: dict[str, dict[str, int | None]]
) -> Iterator[tuple[forms.BoundField, dict[str, int | None]]]:
    """The fields, with what can be chosen; where there is nothing to choose, none."""
    for name, limit in limits.items():
        least, most = limit["least"] or 0, limit["most"]
        if most is None or most > least:
            field = form.fields[name]
            field.widget.attrs |= {"min": least} | ({} if most is None else {"max": most})
            field.help_text = f"At most {most:,}." if most is not None else ""
            yield form[name], limit
