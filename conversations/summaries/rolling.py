"""When a summary is continued, and how: from what it said before, by a model in the background.

Whatever the model answers, nothing of the transcript changes. What is not good enough to stand for messages is thrown
away, and the summary stays as it was; so it does when somebody changed it, or the messages, meanwhile.
"""

from uuid import UUID

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.http import Http404

from conversations import tree
from conversations.budgets import LEAST_OF_A_SUMMARY
from conversations.calibration import message_tokens
from conversations.models import Conversation, Summary
from conversations.prompts import model_for
from conversations.providers.registry import small_model_name
from conversations.querysets import present
from conversations.stand_ins import has_summaries
from conversations.summaries.progress import lease_of, progress_of
from conversations.summaries.spans import Span, end_of_next, span_to
from conversations.summaries.writing import SECONDS, continued, most_of, tokens_of_a_piece, writes_lines

LEASE = int(SECONDS) + 30
"""Seconds after which a worker that was lost while it rolled stands in nobody's way."""
MOST_PIECES = 4
"""Of one roll, each a version; a conversation that is much longer is caught up with after the next turns."""
MOST_PIECES_OF_LINES = 12
"""The same where pieces are small."""


def is_due(conversation_id: UUID) -> bool:
    """Whether a summary is to be written or continued now: something that is not sent, or soon will not be, has none
    that stands for it."""
    return _due(conversation_id) is not None


def roll(conversation_id: UUID) -> bool:
    """Continue the summary when it is due; False: it stays as it is.

    Safe to run twice, and beside whatever the owner does. One at a time: a second one would ask, and pay for, the same.
    """
    lease = lease_of(conversation_id)
    if not cache.add(lease, 1, timeout=LEASE):
        return False
    try:
        return _rolled(conversation_id, lease)
    finally:
        cache.delete(lease)


def _rolled(conversation_id: UUID, lease: str) -> bool:
    due = _due(conversation_id)
    count, most = 0, MOST_PIECES_OF_LINES if writes_lines() else MOST_PIECES
    while due and count < most and _is_continued(*due, lease):
        count += 1
    return count > 0


def _is_continued(conversation: Conversation, end: int, lease: str) -> bool:
    """Read the next piece on the way to `end`, and store a version that goes up to it: what comes after it may fail,
    and what a model was asked once it is not asked again."""
    span = span_to(conversation.pk, end, most=tokens_of_a_piece(conversation))
    if span is None:
        return False
    text = continued(conversation, span, alive=lambda: cache.touch(lease, timeout=LEASE))
    return bool(text) and _keep(conversation, span, text)


def _due(conversation_id: UUID) -> tuple[Conversation, int] | None:
    if not settings.POCKETCHAT_SUMMARIES:
        return None
    conversation = Conversation.objects.filter(present(), pk=conversation_id).first()
    if conversation is None or not has_summaries(conversation) or most_of(conversation) < LEAST_OF_A_SUMMARY:
        return None
    end = end_of_next(conversation)
    return None if end is None or progress_of(conversation).turns_to_wait else (conversation, end)


def _keep(conversation: Conversation, span: Span, text: str) -> bool:
    """Store it; False: the owner, or somebody's deletion, was faster."""
    with transaction.atomic():
        try:
            conversation = tree.locked(conversation.pk)
        except Http404:
            return False
        if not has_summaries(conversation) or span_to(conversation.pk, span.through) != span:
            return False
        Summary.objects.create(
            conversation=conversation,
            through_message_id=span.through,
            text=text,
            tokens=message_tokens(text, model_for(conversation)),
            source=Summary.Source.MODEL,
            model=small_model_name(),
            follows_id=span.before.id if span.before else None,
        )
    return True
