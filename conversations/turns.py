"""The life of a turn after it was asked: claimed, renewed, saved, ended. Each step is one short, guarded write.

A turn is answered at most once and ends exactly once, because every step says what it expects to find:
whoever comes second changes nothing and is told so.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from conversations import answers, reported, searching, tree
from conversations.answers import Said
from conversations.context.measured import Measured
from conversations.models import Conversation, Message, Turn
from conversations.streams import Shown, announce_end, shown


@dataclass(frozen=True, slots=True)
class Renewal:
    """What a worker learns when it renews: which of its turns are still its own, and which shall stop."""

    alive: frozenset[UUID]
    stopping: frozenset[UUID]


def claim(turn_id: UUID, *, lease: timedelta) -> Turn | None:
    """Take a queued turn for this worker; None: somebody else has it, or it is no longer to be answered."""
    now = timezone.now()
    claimed = Turn.objects.filter(pk=turn_id, status=Turn.Status.QUEUED).update(
        status=Turn.Status.STREAMING, started_at=now, lease_until=now + lease
    )
    if not claimed:
        return None
    # It may have been deleted since.
    turn: Turn | None = Turn.objects.select_related("conversation", "prompt").filter(pk=turn_id).first()
    return turn


def renew(turn_ids: Collection[UUID], *, lease: timedelta) -> Renewal:
    """Prolong the lease of a worker's turns, waiting for none.

    One whose row somebody holds, for instance to delete its conversation, is passed over and alive until they let go:
    it must not cost all the others their lease.
    """
    live = Turn.objects.live().filter(pk__in=turn_ids)
    with transaction.atomic():
        free = list(live.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True))
        Turn.objects.filter(pk__in=free).update(lease_until=timezone.now() + lease)
    rows = live.values_list("pk", "stop_requested_at")
    stopping = {pk: requested is not None for pk, requested in rows}
    return Renewal(alive=frozenset(stopping), stopping=frozenset(pk for pk, stop in stopping.items() if stop))


def save_partial(turn: Turn, content: list[dict[str, Any]], *, earlier: Sequence[Said] = ()) -> bool:
    """Keep what there is of the reply so far; False: the turn is no longer live, nothing was written.

    `content` are the blocks of the message that is being written, empty before its first word; `earlier` are the
    whole messages before it.
    """
    with transaction.atomic():
        if not _still_live(turn):
            return False
        partial = [Said(Message.Role.ASSISTANT, content, is_partial=True)] if content else []
        answers.write(turn, [*earlier, *partial])
    return True


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a turn ended. `content` are the blocks of its last message, empty when nothing was answered; `earlier` are
    the messages before it. Tokens and cost are those of the whole turn, `answer_tokens` those of its last message, when
    there are others, `answer_reasoning` those of them that were reasoning. `requests` are those that were answered, in
    order."""

    status: Turn.Status
    content: list[dict[str, Any]]
    earlier: Sequence[Said] = ()
    error_code: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    answer_tokens: int | None = None
    answer_reasoning: int | None = None
    cached_tokens: int | None = None
    cost: Decimal | None = None
    was_cut_off: bool = False
    requests: Sequence[Measured] = ()

    @property
    def said(self) -> list[Said]:
        """All messages of the reply."""
        counted = self.answer_tokens if self.earlier else self.output_tokens
        answer = [Said(Message.Role.ASSISTANT, self.content, counted, self.answer_reasoning)] if self.content else []
        return [*self.earlier, *answer]


def finish(turn: Turn, outcome: Outcome) -> bool:
    """End a live turn; False: somebody else ended it first, or it is gone, and nothing was written."""
    with transaction.atomic():
        if not _still_live(turn):
            return False
        answers.write(turn, outcome.said)
        searching.write_answered(turn.pk)
        facts = reported.keep(turn, outcome.requests)
        now = timezone.now()
        if not outcome.said:
            _fall_back(turn)
        else:
            Conversation.objects.filter(pk=turn.conversation_id).update(last_activity_at=now)
        return _end(
            turn,
            outcome.status,
            now=now,
            error_code=outcome.error_code,
            input_tokens=outcome.input_tokens,
            output_tokens=outcome.output_tokens,
            cached_tokens=outcome.cached_tokens,
            cost=outcome.cost,
            was_cut_off=outcome.was_cut_off,
            **facts,
        )


def request_stop(turn: Turn) -> bool:
    """Ask for the end of a live turn. True: it had not begun and has ended here; its worker ends it otherwise.

    Asking twice, or after the end, changes nothing.
    """
    now = timezone.now()
    queued = Turn.objects.filter(pk=turn.pk, status=Turn.Status.QUEUED)
    with transaction.atomic():
        if _locked_conversation(turn) and queued.update(status=Turn.Status.STOPPED, finished_at=now):
            _fall_back(turn)
            return True
    Turn.objects.live().filter(pk=turn.pk, stop_requested_at__isnull=True).update(stop_requested_at=now)
    return False


def end_for_worker(
    turn: Turn, status: Turn.Status, *, seen: Shown, now: datetime, abandoned_at: datetime | None = None
) -> bool:
    """End a live turn in its worker's place and keep what its viewers have `seen`.

    False: somebody else ended it first, or renewed one that was to be ended as abandoned.
    """
    with transaction.atomic():
        if not (_locked_conversation(turn) and _end(turn, status, now=now, abandoned_at=abandoned_at)):
            return False
        answers.keep_shown(turn, seen.text, calls=seen.calls)
        answers.settle_tokens(turn)
        searching.write_answered(turn.pk)
        _fall_back(turn)
    return True


def announce(turn: Turn, status: Turn.Status) -> None:
    """Tell the viewers of a turn that was ended in its worker's place, and keep what they have seen until then.

    In this order: its worker learns of the end within a heartbeat, and what it writes until it is told is seen.
    """
    announce_end(turn.pk, status)
    keep_seen(turn, shown(turn.pk))


def keep_seen(turn: Turn, seen: Shown) -> None:
    """Keep what viewers of an ended turn have seen beyond what was kept with its end."""
    with transaction.atomic():
        if _locked_conversation(turn) and Turn.objects.filter(pk=turn.pk).exists():
            answers.keep_shown(turn, seen.text, calls=seen.calls)
            answers.settle_tokens(turn)
            searching.write_answered(turn.pk)


def _locked_conversation(turn: Turn) -> bool:
    """Whoever writes messages or moves a head holds the conversation; False when it is gone."""
    return Conversation.objects.select_for_update().filter(pk=turn.conversation_id).exists()


def _still_live(turn: Turn) -> bool:
    """With the conversation held, so that nobody ends the turn before this transaction does."""
    return _locked_conversation(turn) and Turn.objects.live().filter(pk=turn.pk).exists()


def _end(
    turn: Turn, status: Turn.Status, *, now: datetime, abandoned_at: datetime | None = None, **facts: object
) -> bool:
    """False: somebody else ended the turn first, or, when it shall be ended as abandoned, it was renewed meanwhile."""
    turns = Turn.objects.abandoned(now=abandoned_at) if abandoned_at else Turn.objects.live()
    return turns.filter(pk=turn.pk).update(status=status, finished_at=now, **facts) == 1


def _fall_back(turn: Turn) -> None:
    """A second attempt that brought nothing leads back to where its owner was before."""
    prompt = Message.objects.get(pk=turn.prompt_id)
    place = tree.resting_place(prompt)
    if place != prompt.pk:
        Conversation.objects.filter(pk=turn.conversation_id, head_id=prompt.pk).update(head_id=place)
