"""What the pages accept. The limits of a question are `checked_prompt`'s, so that page and API say the same."""

from typing import Any, TypeVar
from uuid import uuid4

from django import forms

from accounts.models import User
from conversations.models import Conversation
from conversations.models.conversation import REQUEST_KEY_CHARACTERS, TITLE_CHARACTERS, title_source_of
from conversations.prompts import most_characters
from conversations.providers.registry import offered_models
from conversations.refusals import KeyReused, Refusal
from conversations.retention.closing import expect_password, is_last_administrator
from conversations.text import clean, line


class CleanCharField(forms.CharField):
    """Text as it may be stored; what no database takes is mended, not refused."""

    def to_python(self, value: Any) -> str | None:
        text = super().to_python(value)
        return clean(text) if text else text


class LineField(forms.CharField):
    """One line with something to see in it, or none."""

    def to_python(self, value: Any) -> str | None:
        text = super().to_python(value)
        return line(text) if text else text


class KeyedForm(forms.Form):
    """One whose repetition is the same request."""

    request_key = CleanCharField(max_length=REQUEST_KEY_CHARACTERS, required=False)

    def request_key_or_new(self) -> str:
        """One too long is cut: the same again must name the same."""
        key: str = self.cleaned_data.get("request_key") or clean(self.data.get("request_key", ""))
        return key[:REQUEST_KEY_CHARACTERS] or str(uuid4())


class RetryForm(KeyedForm):
    """Another answer, from the conversation's model or from the installation's own."""

    use_default = forms.BooleanField(required=False)


class QuestionForm(KeyedForm):
    """A question."""

    text = CleanCharField(strip=False, required=False, widget=forms.Textarea)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Shown beside the text; checked where the sentence about it is.
        self.fields["text"].max_length = most_characters()  # type: ignore[attr-defined]  # a CharField's


BEGINNING = "beginning"
"""What a branch hangs off that begins anew."""


class ComposerForm(QuestionForm):
    """A question and the newest message its sender saw, or the message it shall hang off whatever came after."""

    parent = forms.IntegerField(required=False, min_value=1)
    branch_from = forms.RegexField(rf"^(\d{{1,18}}|{BEGINNING})$", required=False)

    @property
    def text_typed(self) -> str:
        """As it came, before anything is checked."""
        return str(self["text"].value() or "")

    @property
    def is_temporary(self) -> bool:
        """Of a conversation that is about to begin."""
        return bool(self.data.get("temporary"))

    @property
    def first_model(self) -> str:
        """Of a conversation that is about to begin: one that this installation offers; empty: its own choice."""
        name = self.data.get("first_model", "")
        return name if name in offered_models() else ""

    @property
    def is_branch(self) -> bool:
        return bool(self.cleaned_data.get("branch_from"))

    @property
    def parent_id(self) -> int | None:
        seen: int | None = self.cleaned_data.get("parent")
        chosen = self.cleaned_data.get("branch_from")
        if not chosen:
            return seen
        return None if chosen == BEGINNING else int(chosen)

    @classmethod
    def fresh(cls, parent: int | None = None) -> "ComposerForm":
        """An empty one, with a key of its own."""
        return cls(initial={"request_key": str(uuid4()), "parent": parent})

    @classmethod
    def emptied(cls, parent: int | None) -> "ComposerForm":
        """One that says what went wrong elsewhere on the page."""
        return cls({"request_key": str(uuid4()), "parent": parent, "text": ""})


F = TypeVar("F", bound=QuestionForm)


def refused(form: F, refusal: Refusal) -> F:
    """The form as it goes back to the sender, with the text in it and what is wrong with it."""
    form.full_clean()
    if isinstance(refusal, KeyReused):
        # Under the old key it would be refused for ever.
        form.data = {name: form.data.get(name) for name in form.data} | {"request_key": str(uuid4())}
    form.add_error("text", str(refusal))
    return form


class RenameForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    """A title of the owner's own; an empty one gives the choice back."""

    title = LineField(max_length=TITLE_CHARACTERS, required=False)

    class Meta:
        model = Conversation
        fields = ("title",)

    def save(self, commit: bool = True) -> Conversation:
        self.instance.title_source = title_source_of(self.cleaned_data["title"])
        if commit:
            self.instance.save(update_fields=["title", "title_source"])
        renamed: Conversation = self.instance
        return renamed


class SummaryForm(forms.Form):
    """The owner's words for a summary, and the version that they stand in the place of."""

    text = CleanCharField(strip=False, required=False, widget=forms.Textarea)
    through = forms.IntegerField(required=False, min_value=1)
    version = forms.IntegerField(required=False, min_value=1)

    @property
    def text_typed(self) -> str:
        """As it came, before anything is checked."""
        return str(self["text"].value() or "")

    @property
    def seen(self) -> dict[str, int]:
        """The version, and the message that it goes up to; one that does not exist where none was sent."""
        return {"through": self.cleaned_data.get("through") or 0, "seen": self.cleaned_data.get("version") or 0}


class SummarySwitchForm(forms.Form):
    """Whether a conversation has summaries."""

    on = forms.BooleanField(required=False)


class ModelForm(forms.ModelForm):  # type: ignore[type-arg]  # not subscriptable at run time
    """A model that this installation offers; empty: its own choice."""

    model = forms.ChoiceField(required=False, choices=lambda: [(name, name) for name in offered_models()])

    class Meta:
        model = Conversation
        fields = ("model",)

    def save(self, commit: bool = True) -> Conversation:
        """The model alone: a reply may be moving the head at this moment."""
        if commit:
            self.instance.save(update_fields=["model"])
        chosen: Conversation = self.instance
        return chosen


class CloseAccountForm(forms.Form):
    """The password, of those who have one; of the last administrator the word that they know it."""

    password = forms.CharField(
        label="Your password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    is_told = forms.BooleanField(
        label="I know that nobody can open the administration any more",
        required=False,
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user = user
        if not user.has_usable_password():
            del self.fields["password"]
        if not is_last_administrator(user):
            self.fields["is_told"].widget = forms.HiddenInput()

    def clean_password(self) -> str:
        try:
            expect_password(self._user, password := self.cleaned_data["password"])
        except Refusal as refusal:
            raise forms.ValidationError(str(refusal), code=refusal.code) from refusal
        return str(password)


class OwnRetentionForm(forms.Form):
    """What a person chooses for themselves; left empty, the administrator's rules hold. Limits are checked elsewhere,
    where the sentence about them is."""

    idle_days = forms.IntegerField(required=False, min_value=0, label="Days after the last message")
    age_days = forms.IntegerField(required=False, min_value=0, label="Days after the beginning")
    temporary_hours = forms.IntegerField(
        required=False, min_value=0, label="Hours that temporary conversations last after their last message"
    )
    bin_days = forms.IntegerField(required=False, min_value=0, label="Days in the bin")
