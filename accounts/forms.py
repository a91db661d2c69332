"""What the account's pages accept."""

from allauth.account import forms as allauth_forms
from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.models import User
from accounts.tokens import LIVES


class SignupForm(allauth_forms.SignupForm):  # type: ignore[misc]  # allauth ships no types
    """allauth's; whoever presses twice has one account."""

    account_already_exists: bool

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """The new user, or what to answer without one."""
        if not self.account_already_exists:
            try:
                with transaction.atomic():
                    return self.save(request), None
            except IntegrityError:
                if not User.objects.filter(email__iexact=self.cleaned_data["email"]).exists():
                    raise
            if settings.ACCOUNT_EMAIL_VERIFICATION != "mandatory":
                messages.info(request, "There is an account with this address by now. Log in to it.")
                return None, redirect("account_login")
            # Where addresses are confirmed first, nobody is told which of them have an account.
            self.account_already_exists = True
        answered: tuple[User | None, HttpResponse | None] = super().try_save(request)
        return answered


class NewTokenForm(forms.Form):
    """How long a new token shall live."""

    life = forms.ChoiceField(
        label="Valid for",
        choices=[("30", "30 days"), ("90", "90 days"), ("365", "a year"), ("never", "until I take it back")],
        initial="90",
    )

    def clean_life(self) -> object:
        return LIVES[self.cleaned_data["life"]]
