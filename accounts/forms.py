"""What the account's pages accept."""

from django import forms

from accounts.tokens import LIVES


class NewTokenForm(forms.Form):
    """How long a new token shall live."""

    life = forms.ChoiceField(
        label="Valid for",
        choices=[("30", "30 days"), ("90", "90 days"), ("365", "a year"), ("never", "until I take it back")],
        initial="90",
    )

    def clean_life(self) -> object:
        return LIVES[self.cleaned_data["life"]]
