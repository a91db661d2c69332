"""A question before it is stored: which model answers it, whether that model can take it."""

from django.conf import settings

from conversations.context.values import Budget
from conversations.models import Conversation
from conversations.providers.registry import chat_model_info, default_model_name
from conversations.refusals import EmptyPrompt, PromptTooLong
from conversations.text import clean, estimate_tokens, is_blank


def model_for(conversation: Conversation | None) -> str:
    """The model of the next turn; None stands for a conversation that is about to begin."""
    return (conversation.model if conversation else "") or default_model_name()


def system_prompt_of(conversation: Conversation | None) -> str:
    """The conversation's own, else the installation's."""
    return (conversation.system_prompt if conversation else "") or str(settings.POCKETCHAT_SYSTEM_PROMPT)


def budget_for(model_name: str) -> Budget:
    """How the tokens of a model are shared out; of a small window each part gets its share."""
    window = chat_model_info(model_name).window
    return Budget(
        window=window,
        reply=min(settings.POCKETCHAT_REPLY_TOKENS, window // 4),
        history=settings.POCKETCHAT_HISTORY_TOKENS,
        retrieved=min(settings.POCKETCHAT_RETRIEVED_TOKENS, window // 8),
        system=min(settings.POCKETCHAT_SYSTEM_TOKENS, window // 4),
    )


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
    tokens = estimate_tokens(cleaned)
    system = estimate_tokens(system_prompt_of(conversation))
    if tokens > (limit := budget_for(model_for(conversation)).largest_prompt(system=system)):
        raise PromptTooLong(size=tokens, limit=limit, unit="tokens")
    return cleaned
