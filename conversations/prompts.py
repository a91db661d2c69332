"""A question, or a system prompt, before it is stored: which model gets it, whether that model can take it."""

from django.conf import settings

from conversations.budgets import budget_for
from conversations.calibration import message_tokens
from conversations.context.pairs import MAX_CHARS, PROMPT_CHARACTERS, check_prompt
from conversations.models import Conversation
from conversations.providers.registry import default_model_name
from conversations.refusals import EmptyPrompt, PromptTooLong, SystemPromptTooLong
from conversations.text import clean, is_blank


def model_for(conversation: Conversation | None) -> str:
    """The model of the next turn; None stands for a conversation that is about to begin."""
    return (conversation.model if conversation else "") or default_model_name()


def system_prompt_of(conversation: Conversation | None) -> str:
    """The conversation's own, else the installation's."""
    return (conversation.system_prompt if conversation else "") or str(settings.POCKETCHAT_SYSTEM_PROMPT)


def sends_pairs() -> bool:
    """The installation's policy is that of completed pairs, which limits the characters of questions as well."""
    return bool(settings.POCKETCHAT_CONTEXT_POLICY == "pairs")


def most_characters() -> int:
    """Characters a question may have, whatever its model."""
    most = int(settings.POCKETCHAT_PROMPT_CHARACTERS)
    return min(most, PROMPT_CHARACTERS, MAX_CHARS) if sends_pairs() else most


def cleaned_prompt(text: str) -> str:
    """A question as it is stored.

    Raises:
        PromptTooLong: it has more characters than any question may have.
    """
    if len(text) > (most := settings.POCKETCHAT_PROMPT_CHARACTERS):
        raise PromptTooLong(size=len(text), limit=most, unit="characters")
    return clean(text).strip()


def checked_prompt(text: str, conversation: Conversation | None = None) -> str:
    """Clean a question and make sure that its model can take it.

    Raises:
        EmptyPrompt, PromptTooLong
    """
    cleaned = cleaned_prompt(text)
    if is_blank(cleaned):
        raise EmptyPrompt
    if sends_pairs():
        check_prompt(cleaned)
    model = model_for(conversation)
    tokens = message_tokens(cleaned, model)
    system = message_tokens(system_prompt_of(conversation), model)
    if tokens > (limit := budget_for(model).largest_prompt(system=system)):
        raise PromptTooLong(size=tokens, limit=limit, unit="tokens")
    return cleaned


def check_system_prompt(text: str, *, model: str) -> None:
    """Make sure that a system prompt of a conversation's own leaves its model room for the conversation.

    Raises:
        SystemPromptTooLong
    """
    model = model or default_model_name()
    tokens, limit = message_tokens(text, model), budget_for(model).system
    if tokens > limit:
        raise SystemPromptTooLong(size=tokens, limit=limit)
