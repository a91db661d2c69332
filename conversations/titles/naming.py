"""Have a model find a title, and give it to the conversation unless its owner was faster."""

from collections.abc import Collection
from uuid import UUID

from django.conf import settings

from conversations import background
from conversations.models import Conversation, Message, ModelCall, Turn
from conversations.pace import keeps_pace
from conversations.providers.errors import GAVE_WAY, ProviderError
from conversations.providers.values import ChatMessage, ChatRequest
from conversations.querysets import present
from conversations.refusals import TooManySuggestions
from conversations.titles.wording import EXAMPLES, INSTRUCTIONS, shown, title_in
from conversations.tree import WHOLE_BRANCH

MOST_TOKENS = 30
"""Of an answer; what needs more is no title."""
FIRST_AFTER = 2
"""Completed turns: a first "hey" names nothing."""
MOST_TRIES = 4
MOST_SUGGESTIONS = 10
"""Of one person, a minute."""
SECONDS = 30.0
FIRST_TURNS = 3
"""Of the active branch, shown to the model."""

UNTITLED = (Conversation.TitleSource.NONE, Conversation.TitleSource.FALLBACK)


def is_due(conversation_id: UUID) -> bool:
    """Whether a title is to be found now: after two completed turns, and again when they have doubled."""
    if not settings.POCKETCHAT_TITLES:
        return False
    if not Conversation.objects.filter(pk=conversation_id, title_source__in=UNTITLED).exists():
        return False
    tried = tries(conversation_id)
    complete = Turn.objects.filter(conversation=conversation_id, status=Turn.Status.COMPLETE).count()
    return tried < MOST_TRIES and complete >= FIRST_AFTER * 2**tried


def tries(conversation_id: UUID) -> int:
    """How often a model was asked for a title; to have given way is no try."""
    asked = ModelCall.objects.filter(conversation=conversation_id, purpose=ModelCall.Purpose.TITLE)
    return asked.exclude(outcome=GAVE_WAY).count()


def name(conversation_id: UUID) -> bool:
    """Give a conversation a title when it is due; False: it keeps what it has.

    Safe to run twice, and beside whatever its owner does.
    """
    return is_due(conversation_id) and _named(conversation_id, among=UNTITLED)


def expect_pace(person_id: int) -> None:
    """Raises `TooManySuggestions` when one person asks for titles without end."""
    if not keeps_pace(f"suggestions:{person_id}", most=MOST_SUGGESTIONS):
        raise TooManySuggestions(MOST_SUGGESTIONS)


def suggest(conversation_id: UUID) -> bool:
    """Find a title whatever the conversation is called now; it is given unless somebody renamed it meanwhile."""
    return _named(conversation_id, among=Conversation.TitleSource)


def _named(conversation_id: UUID, *, among: Collection[str]) -> bool:
    """With a title found by the model, where the present one is of a source `among` these; False: it stays."""
    named = Conversation.objects.filter(present(), pk=conversation_id, title_source__in=among)
    conversation = named.first()
    if conversation is None or not (said := _first_questions(conversation)):
        return False
    request = _request(said)
    try:
        answer = background.ask(conversation.pk, ModelCall.Purpose.TITLE, request, seconds=SECONDS)
    except ProviderError:
        return False
    title = title_in(answer.text)
    is_given = bool(title) and give(conversation, title)
    # After that: a page that sees the call looks for the title no longer.
    background.traced(conversation.pk, ModelCall.Purpose.TITLE, answer, "ok" if title else "no_title")
    return is_given


def _request(questions: list[str]) -> ChatRequest:
    examples = [
        message
        for asked, named in EXAMPLES
        for message in (ChatMessage("user", shown(asked)), ChatMessage("assistant", named))
    ]
    told = (ChatMessage("system", INSTRUCTIONS), *examples, ChatMessage("user", shown(questions)))
    return ChatRequest(told, max_tokens=MOST_TOKENS)


def _first_questions(conversation: Conversation) -> list[str]:
    """On the branch its owner is on, however long that is: of the other messages only ids are read."""
    branch = Message.objects.branch(conversation.head_id, rows=WHOLE_BRANCH)
    first = list(branch.filter(role=Message.Role.USER).values_list("pk", flat=True)[:FIRST_TURNS])
    return [row.text for row in Message.objects.filter(pk__in=first).order_by("pk") if row.text.strip()]


def give(conversation: Conversation, title: str) -> bool:
    """False: it was renamed since `conversation` was read, or is gone."""
    unchanged = Conversation.objects.filter(
        pk=conversation.pk, title=conversation.title, title_source=conversation.title_source
    )
    return bool(unchanged.update(title=title, title_source=Conversation.TitleSource.MODEL))
