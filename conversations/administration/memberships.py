"""Groups in the form of an account: those for which there is a rule wait for a page that says what they delete."""

from typing import Any, cast
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from accounts.admin import AccountAdmin
from accounts.models import User
from conversations.administration.overview import kinds_of
from conversations.refusals import ChangeNotConfirmed
from conversations.retention import memberships
from conversations.retention.changes import hold_the_rules


class MembershipAdmin(AccountAdmin):
    """Everything else of the form is saved at once."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Of the groups that have rules none is entered or left here."""
        if "groups" in form.cleaned_data:
            # A rule that is made in this moment for one of them is made before or after, and then shown anew.
            hold_the_rules()
            chosen = {group.pk: group for group in form.cleaned_data["groups"]}
            of_rules, are_in = memberships.ruled(chosen), memberships.ruled_groups_of(form.instance)
            form.wanted_groups = of_rules if of_rules != are_in else None
            free = [group for pk, group in chosen.items() if pk not in of_rules]
            form.cleaned_data["groups"] = [*free, *form.instance.groups.filter(pk__in=are_in)]
        super().save_related(request, form, formsets, change)

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        """Kept until the answer is made: a form is all that the admin hands on between the two."""
        request.wanted_groups = getattr(form, "wanted_groups", None)  # type: ignore[attr-defined]  # ours
        return super().construct_change_message(request, form, formsets, add)

    def response_change(self, request: HttpRequest, obj: User) -> HttpResponse:
        wanted = getattr(request, "wanted_groups", None)
        if wanted is None:
            return super().response_change(request, obj)
        address = reverse("admin:change_membership", args=[obj.pk])
        return redirect(f"{address}?{urlencode([('group', pk) for pk in sorted(wanted)])}")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.change_membership)
        return [path("<int:pk>/membership/", view, name="change_membership"), *super().get_urls()]

    def change_membership(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show what other groups do to what a person has, then put them there."""
        user = get_object_or_404(User, pk=pk)
        if not self.has_change_permission(request, user):
            raise PermissionDenied
        if request.method == "POST":
            return self._confirmed(request, user)
        group_ids = [int(each) for each in request.GET.getlist("group") if each.isascii() and each.isdigit()]
        proposal = memberships.propose(user, group_ids, by=cast("User", request.user), now=timezone.now())
        context = {
            **self.admin_site.each_context(request),
            "title": "Change the groups like this?",
            "opts": self.opts,
            "proposal": proposal,
            "kinds": kinds_of(proposal.then),
        }
        return render(request, "admin/retention/membership.html", context)

    def _confirmed(self, request: HttpRequest, user: User) -> HttpResponse:
        try:
            token, by = request.POST.get("token", ""), cast("User", request.user)
            memberships.confirm(token, user=user, by=by, now=timezone.now())
        except ChangeNotConfirmed as refusal:
            messages.error(request, str(refusal))
        else:
            messages.success(
                request, "The groups are changed. What is over is out of sight already, and goes with the next purge."
            )
        return redirect(reverse("admin:accounts_user_change", args=[user.pk]))
