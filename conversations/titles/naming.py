"""Have a model find a title, and give it to the conversation unless its owner was faster."""

from contextlib import suppress
from uuid import UUID

import structlog
from django.conf import settings
from django.db import IntegrityError

from conversations.models import Conversation, Message, ModelCall, Turn
from conversations.providers.errors import ProviderError
from conversations.providers.registry import small_model_name
from conversations.providers.values import ChatMessage, ChatRequest
from conversations.providers.whole import WholeAnswer, answer_of
from conversations.titles.wording import INSTRUCTIONS, excerpt_of, title_in

log = structlog.get_logger(__name__)

MOST_TOKENS = 30
"""Of an answer; what needs more is no title."""
FIRST_AFTER = 2
"""Completed turns: a first "hey" names nothing."""
MOST_TRIES = 4
SECONDS = 30.0
MOST_ROWS = 200
"""Of a branch are read; a title is found long before."""
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
    """How often a model was asked for a title."""
    return ModelCall.objects.filter(conversation=conversation_id, purpose=ModelCall.Purpose.TITLE).count()


def name(conversation_id: UUID) -> bool:
    """Give a conversation a title when it is due; False: it keeps what it has.

    Safe to run twice, and beside whatever its owner does.
    """
    return is_due(conversation_id) and suggest(conversation_id)


def suggest(conversation_id: UUID) -> bool:
    """Find a title whatever the conversation is called now; it is given unless somebody renamed it meanwhile."""
    conversation = Conversation.objects.filter(pk=conversation_id, trashed_at__isnull=True).first()
    if conversation is None or not (said := _beginning(conversation)):
        return False
    request = ChatRequest(
        (ChatMessage("system", INSTRUCTIONS), ChatMessage("user", excerpt_of(said))), max_tokens=MOST_TOKENS
    )
    model = small_model_name()
    try:
        answer = answer_of(model, request, seconds=SECONDS)
    except ProviderError as error:
        _trace(conversation, model, None, outcome=error.code)
        return False
    title = title_in(answer.text)
    _trace(conversation, model, answer, outcome="ok" if title else "no_title")
    return bool(title) and give(conversation, title)


def _beginning(conversation: Conversation) -> list[tuple[str, str]]:
    """Role and text of the first messages of the branch its owner is on."""
    branch = Message.objects.branch(conversation.head_id, rows=MOST_ROWS)
    rows = branch.filter(role__in=[Message.Role.USER, Message.Role.ASSISTANT])[: 2 * FIRST_TURNS]
    return [(row.role, row.text) for row in rows]


def give(conversation: Conversation, title: str) -> bool:
    """False: it was renamed since `conversation` was read, or is gone."""
    unchanged = Conversation.objects.filter(
        pk=conversation.pk, title=conversation.title, title_source=conversation.title_source
    )
    return bool(unchanged.update(title=title, title_source=Conversation.TitleSource.MODEL))


def _trace(conversation: Conversation, model: str, answer: WholeAnswer | None, *, outcome: str) -> None:
    provider, _, name_there = model.partition(":")
    end = answer.end if answer else None
    with suppress(IntegrityError):  # Erased meanwhile: no trace is wanted.
        ModelCall.objects.create(
            conversation_id=conversation.pk,
            purpose=ModelCall.Purpose.TITLE,
            provider=provider,
            model=name_there,
            input_tokens=end.input_tokens if end else None,
            output_tokens=end.output_tokens if end else None,
            cached_tokens=end.cached_tokens if end else None,
            cost=end.cost if end else None,
            latency_ms=answer.elapsed_ms if answer else 0,
            outcome=outcome,
        )
