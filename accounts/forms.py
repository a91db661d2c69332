"""What the account's pages accept."""

from allauth.account import forms as allauth_forms
from django import forms
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.models import User
from accounts.tokens import LIVES


class SignupForm(allauth_forms.SignupForm):  # type: ignore[misc]  # allauth ships no types
    """allauth's; whoever presses twice has one account, and is told so."""

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """The new user, or where to go without one."""
        try:
            with transaction.atomic():
                saved: tuple[User | None, HttpResponse | None] = super().try_save(request)
                return saved
        except IntegrityError:
            if not User.objects.filter(email__iexact=self.cleaned_data["email"]).exists():
                raise
        messages.info(request, "There is an account with this address by now. Log in to it.")
        return None, redirect("account_login")


class NewTokenForm(forms.Form):
    """How long a new token shall live."""

    life = forms.ChoiceField(
        label="Valid for",
        choices=[("30", "30 days"), ("90", "90 days"), ("365", "a year"), ("never", "until I take it back")],
        initial="90",
    )

    def clean_life(self) -> object:
        return LIVES[self.cleaned_data["life"]]
