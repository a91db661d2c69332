"""Rules of retention: each change is shown with what it deletes, and made once that was confirmed."""

from typing import Any, ClassVar, cast

from django import forms
from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from accounts.models import User
from conversations.administration import overview
from conversations.models import RetentionRule
from conversations.refusals import ChangeNotConfirmed
from conversations.retention import changes
from conversations.retention.changes import SAID, Change
from conversations.retention.wording import said

TOKEN = "token"  # noqa: S105  # the name of a field
TARGET = ("scope", "group", "user")


class RuleForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    """Whom a rule is for stays as it was made."""

    class Meta:
        model = RetentionRule
        fields = (*TARGET, *SAID)
        labels: ClassVar = {
            "idle_days": "Days after the last message",
            "age_days": "Days after the beginning",
            "temporary_hours": "Hours of temporary ones",
            "bin_days": "Days in the bin",
            "may_keep": "People may keep some",
            "trace_days": "Days of traces",
            "log_days": "Days of log lines",
            "least_days": "Minimum, in days",
            "most_days": "Maximum, in days",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        scope = self.fields["scope"]
        shown = RetentionRule.Scope if self.instance.pk else set(RetentionRule.Scope) - {RetentionRule.Scope.OWN}
        scope.choices = [one for one in RetentionRule.Scope.choices if one[0] in shown]  # type: ignore[attr-defined]  # a ChoiceField's
        self.fields["may_keep"].widget.choices = [("unknown", "left open"), ("true", "yes"), ("false", "no")]
        for name in TARGET if self.instance.pk else ():
            self.fields[name].disabled = True

    @property
    def change(self) -> Change:
        target = {f"{name}_id": row.pk for name in ("group", "user") if (row := self.cleaned_data[name])}
        return Change(self.cleaned_data["scope"], {name: self.cleaned_data[name] for name in SAID}, **target)


@admin.register(RetentionRule)
class RetentionRuleAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not subscriptable at run time
    form = RuleForm
    change_list_template = "admin/retention/rules.html"
    list_display = ("__str__", "says")
    list_filter = ("scope",)
    search_fields = ("user__email", "group__name")
    autocomplete_fields = ("user",)
    actions = None
    ordering = ("scope", "pk")
    list_select_related = ("user", "group")
    fieldsets = (
        ("For", {"fields": TARGET, "description": "Of two rules the one for one user goes before that for a group, and "
                 "that before the one for everyone. Of several groups the strictest holds. What is left empty is "
                 "decided by the next wider rule."}),
        ("Conversations", {"fields": ("idle_days", "age_days", "forever", "temporary_hours", "bin_days", "may_keep")}),
        ("The whole installation", {"fields": ("trace_days", "log_days", "least_days", "most_days"),
                                    "description": "In the rule for everyone alone."}),
    )  # fmt: skip

    @admin.display(description="says")
    def says(self, rule: RetentionRule) -> str:
        return said(rule)

    def get_urls(self) -> list[URLPattern]:
        return [
            path("overview/", self.admin_site.admin_view(overview.show), name="retention"),
            path("overview/run/", self.admin_site.admin_view(overview.run), name="retention_run"),
            *super().get_urls(),
        ]

    def has_change_permission(self, request: HttpRequest, obj: RetentionRule | None = None) -> bool:
        """What people chose for themselves is theirs."""
        return super().has_change_permission(request, obj) and _is_ours(obj)

    def has_delete_permission(self, request: HttpRequest, obj: RetentionRule | None = None) -> bool:
        return super().has_delete_permission(request, obj) and _is_ours(obj)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """A form that can be saved leads to the page that shows what it does; any other is shown again."""
        rule = self.get_object(request, object_id) if object_id else None
        is_allowed = self.has_change_permission(request, rule) if rule else self.has_add_permission(request)
        if request.method == "POST" and is_allowed:
            if TOKEN in request.POST:
                return self._confirmed(request)
            form = cast("RuleForm", self.get_form(request, rule, change=rule is not None)(request.POST, instance=rule))
            if form.is_valid():
                return self._asked(request, form.change)
        return super().changeform_view(request, object_id, form_url, extra_context)

    def delete_view(
        self,
        request: HttpRequest,
        object_id: str,
        extra_context: dict[str, Any] | None = None,  # noqa: ARG002  # Django's signature
    ) -> HttpResponse:
        """What goes without the rule, then without it."""
        rule = self.get_object(request, object_id)
        if rule is None or not self.has_delete_permission(request, rule):
            raise Http404
        if request.method == "POST" and TOKEN in request.POST:
            return self._confirmed(request)
        return self._asked(request, Change(rule.scope, None, group_id=rule.group_id, user_id=rule.user_id))

    def _asked(self, request: HttpRequest, change: Change) -> HttpResponse:
        proposal = changes.propose(change, by=cast("User", request.user), now=timezone.now())
        context = {
            **self.admin_site.each_context(request),
            "title": "Remove this rule?" if change.says is None else "Change the rules like this?",
            "opts": self.opts,
            "proposal": proposal,
            "rule": RetentionRule(**change.target, **(change.says or {})),
            "says": said(RetentionRule(**change.says)) if change.says is not None else "",
            "kinds": overview.kinds_of(proposal.then),
        }
        return render(request, "admin/retention/confirm.html", context)

    def _confirmed(self, request: HttpRequest) -> HttpResponse:
        try:
            changes.confirm(request.POST[TOKEN], by=cast("User", request.user), now=timezone.now())
        except ChangeNotConfirmed as refusal:
            messages.error(request, str(refusal))
        else:
            messages.success(
                request, "The rules are changed. What is over is out of sight already, and goes with the next purge."
            )
        return redirect(reverse("admin:retention"))


def _is_ours(rule: RetentionRule | None) -> bool:
    return rule is None or rule.scope != RetentionRule.Scope.OWN
