"""Which model answers a conversation: the small menu of the composer."""

from dataclasses import dataclass

from conversations.models import Conversation
from conversations.prompts import model_for
from conversations.providers.registry import chat_model_info, default_model_name, offered_models


@dataclass(frozen=True)
class Option:
    """A model on the menu; an empty `value` stands for the installation's choice."""

    value: str
    label: str
    is_default: bool
    is_chosen: bool


@dataclass(frozen=True)
class ModelChoice:
    """The model that answers next, and the others there are."""

    label: str
    options: tuple[Option, ...]

    @property
    def own(self) -> str:
        """The chosen one; empty: the installation's choice."""
        return next((option.value for option in self.options if option.is_chosen), "")


def model_choice(conversation: Conversation | None) -> ModelChoice:
    chosen, default = model_for(conversation), default_model_name()
    options = (
        Option(
            value="" if name == default else name,
            label=chat_model_info(name).label,
            is_default=name == default,
            is_chosen=name == chosen,
        )
        for name in offered_models()
    )
    return ModelChoice(chat_model_info(chosen).label, tuple(options))
