"""When a summary is continued, and how: from what it said before, by a model in the background.

Whatever the model answers, nothing of the transcript changes. What is not good enough to stand for messages is thrown
away, and the summary stays as it was; so it does when somebody changed it, or the messages, meanwhile.
"""

from uuid import UUID

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.db.models import Max
from django.http import Http404

from conversations import background, tree
from conversations.budgets import LEAST_OF_A_SUMMARY, most_of_summary
from conversations.calibration import message_tokens
from conversations.models import Conversation, ModelCall, Summary, Turn
from conversations.prompts import model_for
from conversations.providers.errors import ProviderError
from conversations.providers.registry import BUNDLED, chat_model_info, small_model_name
from conversations.providers.values import ChatMessage, ChatRequest
from conversations.stand_ins import has_summaries
from conversations.summaries.spans import Span, end_of_next, span_to
from conversations.summaries.wording import instructions, judged, pieces, question
from conversations.text import estimate_tokens

SECONDS = 90.0
"""For one piece."""
LEASE = int(SECONDS) + 30
"""Seconds after which a worker that was lost while it rolled stands in nobody's way."""
MOST_PIECES = 4
"""Of one roll, each a version; a conversation that is much longer is caught up with after the next turns."""
MOST_OF_A_PIECE = 6_000
"""Tokens; of more a small model drops too much."""
ROOM_TO_THINK = 1_000
"""Tokens that a model may think before it writes. They count as written, and what is cut off is thrown away."""
MOST_REST = 64
"""Turns after which a model that failed again and again is asked once more."""


def is_due(conversation_id: UUID) -> bool:
    """Whether a summary is to be written or continued now: something that is not sent, or soon will not be, has none
    that stands for it."""
    return _due(conversation_id) is not None


def roll(conversation_id: UUID) -> bool:
    """Continue the summary when it is due; False: it stays as it is.

    Safe to run twice, and beside whatever the owner does. One at a time: a second one would ask, and pay for, the same.
    """
    lease = f"rolling:{conversation_id}"
    if not cache.add(lease, 1, timeout=LEASE):
        return False
    try:
        return _rolled(conversation_id, lease)
    finally:
        cache.delete(lease)


def _rolled(conversation_id: UUID, lease: str) -> bool:
    due = _due(conversation_id)
    count = 0
    while due and count < MOST_PIECES and _is_continued(*due):
        count += 1
        cache.touch(lease, timeout=LEASE)
    return count > 0


def _is_continued(conversation: Conversation, end: int) -> bool:
    """Read the next piece on the way to `end`, and store a version that goes up to it: what comes after it may fail,
    and what a model was asked once it is not asked again."""
    span = span_to(conversation.pk, end, most=_tokens_of_a_piece(conversation))
    return span is not None and bool(notes := _continued(conversation, span)) and _keep(conversation, span, notes)


def _due(conversation_id: UUID) -> tuple[Conversation, int] | None:
    if not settings.POCKETCHAT_SUMMARIES:
        return None
    conversation = Conversation.objects.filter(pk=conversation_id, trashed_at__isnull=True).first()
    if conversation is None or not has_summaries(conversation) or _most(conversation) < LEAST_OF_A_SUMMARY:
        return None
    end = end_of_next(conversation)
    return None if end is None or _is_resting(conversation) else (conversation, end)


def _is_resting(conversation: Conversation) -> bool:
    """Whether it is too early to ask a model again: after each failure the turns to wait for double."""
    written = Summary.objects.filter(conversation=conversation, source=Summary.Source.MODEL)
    last_good = written.aggregate(last=Max("created_at"))["last"]
    calls = ModelCall.objects.filter(conversation=conversation, purpose=ModelCall.Purpose.SUMMARY)
    failed = calls.exclude(outcome__in=background.NO_FAILURES)
    failures = (failed.filter(created_at__gt=last_good) if last_good else failed).order_by("created_at")
    if (newest := failures.last()) is None:
        return False
    since: int = Turn.objects.filter(conversation=conversation, finished_at__gt=newest.created_at).count()
    doubled: int = 2 ** (min(failures.count(), 10) - 1)
    return since < min(doubled, MOST_REST)


def _continued(conversation: Conversation, span: Span) -> str:
    """The notes with what the span says; empty when the model failed. Only a turn that is larger than a piece is read
    in several: notes of half a turn stand for nothing, so they are lost when a later one fails."""
    notes = span.before.text if span.before else ""
    most = _most(conversation)
    for piece in pieces(span.said, _tokens_of_a_piece(conversation)):
        try:
            answer = background.ask(
                conversation.pk, ModelCall.Purpose.SUMMARY, _request(notes, piece, most), seconds=SECONDS
            )
        except ProviderError:
            return ""
        stands_for = estimate_tokens(notes) + estimate_tokens(piece)
        # It is so small that it tells of people and places nobody spoke of.
        only_of = f"{notes}\n{piece}" if small_model_name() == BUNDLED else ""
        found = judged(
            answer.text, was_cut_off=answer.end.was_cut_off, most=most, stands_for=stands_for, only_of=only_of
        )
        background.traced(conversation.pk, ModelCall.Purpose.SUMMARY, answer, found.outcome)
        if not found.is_good:
            return ""
        notes = found.notes
    return notes


def _request(notes: str, piece: str, most: int) -> ChatRequest:
    return ChatRequest(
        (ChatMessage("system", instructions(most)), ChatMessage("user", question(notes, piece))),
        max_tokens=most + _room_to_think(),
    )


def _room_to_think() -> int:
    return 0 if small_model_name() == BUNDLED else ROOM_TO_THINK


def _most(conversation: Conversation) -> int:
    return most_of_summary(model_for(conversation), writer=small_model_name())


def _tokens_of_a_piece(conversation: Conversation) -> int:
    """Half of what the small model has beside instructions, notes and answer: of some languages it makes twice the
    tokens that we count."""
    most = _most(conversation)
    window = chat_model_info(small_model_name()).window
    taken = estimate_tokens(instructions(most)) + 2 * most + _room_to_think()
    return max(min((window - taken) // 2, MOST_OF_A_PIECE), most)


def _keep(conversation: Conversation, span: Span, notes: str) -> bool:
    """Store the notes; False: the owner, or somebody's deletion, was faster."""
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
            text=notes,
            tokens=message_tokens(notes, model_for(conversation)),
            source=Summary.Source.MODEL,
            model=small_model_name(),
            follows_id=span.before.id if span.before else None,
        )
    return True
