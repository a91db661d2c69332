"""Legal holds: placed and lifted, never changed or deleted."""

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path
from django.utils import timezone

from accounts.models import User
from conversations.administration.overview import kinds_of
from conversations.models import Conversation, Hold
from conversations.retention import changes, holds


class HoldForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    """A conversation is named by its id: titles are nobody's business here."""

    conversation = forms.ModelChoiceField(
        Conversation.objects.all(),
        required=False,
        widget=forms.TextInput(attrs={"class": "vTextField"}),
        help_text=Hold._meta.get_field("conversation").help_text,
        error_messages={"invalid_choice": "There is no conversation of this id."},
    )

    class Meta:
        model = Hold
        fields = ("user", "conversation", "reason")

    def clean(self) -> dict[str, Any]:
        said = super().clean() or {}
        if bool(said.get("user")) == bool(said.get("conversation")) and not self.errors:
            raise forms.ValidationError("Name a user or a conversation, one of the two.")
        return said


@admin.register(Hold)
class HoldAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not subscriptable at run time
    form = HoldForm
    change_form_template = "admin/retention/hold.html"
    list_display = ("on", "reason", "since", "placed_by", "lifted_at", "lifted_by")
    list_filter = (("lifted_at", admin.EmptyFieldListFilter),)
    search_fields = ("reason", "user__email", "conversation__id")
    list_select_related = ("user", "placed_by", "lifted_by")
    autocomplete_fields = ("user",)
    actions = None
    ordering = ("-since",)

    @admin.display(description="on")
    def on(self, hold: Hold) -> str:
        return str(hold.user) if hold.user else f"conversation {hold.conversation_id}"

    def get_fields(self, request: HttpRequest, obj: Hold | None = None) -> Any:  # noqa: ARG002  # Django's signature
        if obj is None:
            return ("user", "conversation", "reason")
        return ("on", "reason", "since", "placed_by", "lifted_at", "lifted_by")

    def get_readonly_fields(self, request: HttpRequest, obj: Hold | None = None) -> Any:
        return () if obj is None else self.get_fields(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Hold | None = None) -> bool:
        return obj is None and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Hold | None = None) -> bool:  # noqa: ARG002  # Django's signature
        return False

    def save_model(self, request: HttpRequest, obj: Hold, form: Any, change: bool) -> None:  # noqa: ARG002  # Django's signature
        placed = holds.place(
            user=obj.user,
            conversation=obj.conversation,
            reason=obj.reason,
            by=cast("User", request.user),
            now=timezone.now(),
        )
        obj.pk = placed.pk

    def get_urls(self) -> list[URLPattern]:
        lift = path("<int:pk>/lift/", self.admin_site.admin_view(self.lift), name="lift_hold")
        return [lift, *super().get_urls()]

    def lift(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask, then lift."""
        if not request.user.has_perm("conversations.change_hold"):
            raise PermissionDenied
        hold = get_object_or_404(Hold, pk=pk)
        if request.method != "POST":
            return self._asked_to_lift(request, hold)
        if holds.lift(hold, by=cast("User", request.user), now=timezone.now()):
            messages.success(request, "The hold is lifted: what it held may be deleted again.")
        else:
            messages.warning(request, "It had been lifted already.")
        return redirect("admin:conversations_hold_changelist")

    def _asked_to_lift(self, request: HttpRequest, hold: Hold) -> HttpResponse:
        """With what the rules have ended meanwhile, which goes as soon as nothing holds it."""
        owner = hold.user_id or (hold.conversation.owner_id if hold.conversation else None)
        now = timezone.now()
        effect = changes.effect_of(lambda: holds.lift(hold, by=None, now=now), now=now, owner=owner)
        context = {
            **self.admin_site.each_context(request),
            "title": "Lift this hold?",
            "opts": self.opts,
            "hold": hold,
            "on": self.on(hold),
            "proposal": effect,
            "kinds": kinds_of(effect.then),
        }
        return render(request, "admin/retention/lift.html", context)
