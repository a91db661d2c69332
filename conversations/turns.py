"""The life of a turn: asked, claimed, renewed, ended. Each step is one short, guarded write.

A turn is answered at most once and ends exactly once, because every step says what it expects to find:
whoever comes second changes nothing and is told so. No transaction waits for a network; `sweep` asks between them what
viewers have seen.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import User
from conversations import answers, tree
from conversations.answers import Said
from conversations.models import Conversation, Message, Turn
from conversations.refusals import ConversationBusy, KeyReused, NewerMessages, TooManyReplies
from conversations.streams import Shown
from conversations.text import clean, clean_blocks, estimate_tokens, line, preview

log = structlog.get_logger(__name__)

QUEUE_PATIENCE = timedelta(minutes=2)
"""How long a turn may wait for a worker before the user is told that none came."""

REQUEUE_AFTER = timedelta(seconds=10)
"""A turn queued for longer is handed to the queue again: its task may have been lost with Redis."""

FALLBACK_TITLE_CHARACTERS = 60

REPLIES_OF_A_PERSON = 0x7265706C
"""Names the advisory locks of PostgreSQL that are held while a person's replies are counted."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A stored question. `is_new` is False when the same request had been stored before.

    `stopped` is the live turn that made way for it.
    """

    turn: Turn
    is_new: bool
    stopped: UUID | None = None


@dataclass(frozen=True, slots=True)
class Renewal:
    """What a worker learns when it renews: which of its turns are still its own, and which shall stop."""

    alive: frozenset[UUID]
    stopping: frozenset[UUID]


def start(owner: User, *, text: str, request_key: str, model: str, lease: timedelta = QUEUE_PATIENCE) -> Asked:
    """Begin a conversation with a question; the same key from the same owner finds what it began.

    `text` has been through `checked_prompt`.
    """
    with transaction.atomic():
        conversation, _ = Conversation.objects.get_or_create(
            owner=owner, request_key=request_key, defaults=_fallback_title(text)
        )
        return ask(conversation.pk, text=text, request_key=request_key, parent_id=None, model=model, lease=lease)


def ask(
    conversation_id: UUID,
    *,
    text: str,
    request_key: str,
    parent_id: int | None,
    model: str,
    is_branch: bool = False,
    lease: timedelta = QUEUE_PATIENCE,
) -> Asked:
    """Store a question as a queued turn behind `parent_id`, the newest message its sender has seen.

    `text` has been through `checked_prompt`. With `is_branch` it begins a branch of its own behind `parent_id`
    (None: at the beginning), whatever the conversation went on to say.

    Raises:
        Http404: it is gone, or in the bin; the parent is none of its messages.
        ConversationBusy, KeyReused, NewerMessages, TooManyReplies
    """
    with transaction.atomic():
        conversation = tree.locked(conversation_id)
        if earlier := asked_before(conversation, request_key):
            is_same = earlier.brought_its_prompt and earlier.prompt.text == clean(text)
            _refuse_unless(is_same and tree.is_place_for(earlier.prompt, parent_id), earlier)
            return Asked(earlier, is_new=False)
        _refuse_when_busy(conversation)
        if is_branch:
            tree.move_head(conversation, tree.place_for_question(conversation, parent_id))
        elif parent_id != conversation.head_id:
            raise NewerMessages(conversation.head_id)
        return Asked(_stored_question(conversation, text, request_key, model, lease), is_new=True)


def retry(
    turn: Turn, *, request_key: str, model: str, goes_on_with: str | None = None, lease: timedelta = QUEUE_PATIENCE
) -> Asked:
    """Have the question of an ended turn answered again, wherever it stands.

    The earlier answers stay as siblings, each with what was said after it. `goes_on_with` becomes the conversation's
    own model (empty: the installation's); None changes nothing about later turns.

    Raises:
        Http404, ConversationBusy, KeyReused
    """
    with transaction.atomic():
        conversation = tree.locked(turn.conversation_id)
        if earlier := asked_before(conversation, request_key):
            _refuse_unless(not earlier.brought_its_prompt and earlier.prompt_id == turn.prompt_id, earlier)
            return Asked(earlier, is_new=False)
        _refuse_when_busy(conversation)
        prompt = tree.message_in(conversation, turn.prompt_id)
        again = Turn.objects.create(
            conversation=conversation,
            prompt=prompt,
            request_key=request_key,
            model=model,
            lease_until=timezone.now() + lease,
        )
        if tree.is_on_branch(prompt.pk, head_id=conversation.head_id):
            # Where `_fall_back` goes when nothing comes of it.
            prompt.resume_at_id = conversation.head_id
            prompt.save(update_fields=["resume_at"])
        tree.move_head(conversation, prompt.pk)
        if goes_on_with is not None:
            conversation.model = goes_on_with
            conversation.save(update_fields=["model"])
    return Asked(again, is_new=True)


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
    there are others."""

    status: Turn.Status
    content: list[dict[str, Any]]
    earlier: Sequence[Said] = ()
    error_code: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    answer_tokens: int | None = None
    cached_tokens: int | None = None
    cost: Decimal | None = None
    was_cut_off: bool = False

    @property
    def said(self) -> list[Said]:
        """All messages of the reply."""
        counted = self.answer_tokens if self.earlier else self.output_tokens
        answer = [Said(Message.Role.ASSISTANT, self.content, counted)] if self.content else []
        return [*self.earlier, *answer]


def finish(turn: Turn, outcome: Outcome) -> bool:
    """End a live turn; False: somebody else ended it first, or it is gone, and nothing was written."""
    with transaction.atomic():
        if not _still_live(turn):
            return False
        answers.write(turn, outcome.said)
        _fall_back(turn)
        now = timezone.now()
        if outcome.said:
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


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep found: turns it ended, turns that should be handed to the queue again, how many it could not end."""

    interrupted: list[Turn]
    waiting: list[UUID]
    failed: int = 0


def sweep(*, now: datetime, shown: Callable[[UUID], Shown] = lambda _: Shown()) -> Swept:
    """End the turns whose worker is gone. Safe to run in many workers at once: each turn is ended by one of them.

    `shown` says what viewers of a turn have seen: what goes beyond the last save is kept with the end, in one
    transaction, for the next attempt may begin as soon as the turn has ended.
    """
    interrupted, failed = [], 0
    for turn in Turn.objects.abandoned(now=now):
        try:
            if end_for_worker(turn, Turn.Status.INTERRUPTED, seen=shown(turn.pk), now=now, abandoned_at=now):
                interrupted.append(turn)
        except Exception as error:  # noqa: BLE001  # whatever is wrong with one turn, those behind it must end
            failed += 1
            log.warning("turn_not_ended", turn=str(turn.pk), error=type(error).__name__)
    waiting = list(Turn.objects.waiting(since=now - REQUEUE_AFTER).values_list("pk", flat=True))
    return Swept(interrupted=interrupted, waiting=waiting, failed=failed)


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
        _fall_back(turn)
    return True


def keep_seen(turn: Turn, seen: Shown) -> None:
    """Keep what viewers of an ended turn have seen beyond what was kept with its end."""
    with transaction.atomic():
        if _locked_conversation(turn) and Turn.objects.filter(pk=turn.pk).exists():
            answers.keep_shown(turn, seen.text, calls=seen.calls)
            answers.settle_tokens(turn)


def asked_before(conversation: Conversation, request_key: str) -> Turn | None:
    """The turn that this request has already made."""
    found = Turn.objects.select_related("prompt").filter(conversation=conversation, request_key=request_key)
    earlier: Turn | None = found.first()
    return earlier


def _refuse_unless(is_same_request: bool, earlier: Turn) -> None:
    if not is_same_request:
        raise KeyReused(turn=str(earlier.pk))


def _refuse_when_busy(conversation: Conversation) -> None:
    """One turn a conversation, which the database promises; and so many a person that others are answered, too."""
    live = Turn.objects.live()
    if running := live.filter(conversation=conversation).values_list("pk", flat=True).first():
        raise ConversationBusy(running)
    _hold_the_count(conversation)
    most = settings.POCKETCHAT_REPLIES_A_PERSON
    if live.filter(conversation__owner=conversation.owner_id).count() >= most:
        raise TooManyReplies(most)


def _hold_the_count(conversation: Conversation) -> None:
    """Until the transaction ends: of questions sent at once into several conversations none counts without the others.

    Whoever holds it waits for nothing else, so nobody waits in a circle.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [REPLIES_OF_A_PERSON, str(conversation.owner_id)]
        )


def _stored_question(conversation: Conversation, text: str, request_key: str, model: str, lease: timedelta) -> Turn:
    """Question, turn and head together; the turn and its question name each other, which the database checks last."""
    now = timezone.now()
    turn = Turn(
        conversation=conversation, request_key=request_key, model=model, created_at=now, lease_until=now + lease
    )
    prompt = Message.objects.create(
        conversation=conversation,
        turn_id=turn.pk,
        parent_id=conversation.head_id,
        role=Message.Role.USER,
        content=clean_blocks([{"type": "text", "text": text}]),
        tokens=estimate_tokens(text),
        created_at=now,
    )
    turn.prompt = prompt
    turn.save(force_insert=True)
    conversation.head = prompt
    conversation.last_activity_at = now
    if conversation.title_source == Conversation.TitleSource.NONE:
        for field, value in _fallback_title(text).items():
            setattr(conversation, field, value)
    conversation.save(update_fields=["head", "last_activity_at", "title", "title_source"])
    return turn


def _fallback_title(text: str) -> dict[str, str]:
    title = line(preview(clean(text), FALLBACK_TITLE_CHARACTERS))
    return {"title": title, "title_source": Conversation.TitleSource.FALLBACK} if title else {}


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
