"""What an owner does with the branches of a conversation: edit a question, go to another version, delete one.

Nothing but `remove` takes a message away. Whoever comes second finds the conversation held.
"""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from conversations import asking, tree, turns
from conversations.models import Message, Turn
from conversations.refusals import NoOtherVersion, NotEditable
from conversations.streams import Shown


def edit(
    question: Message, *, text: str, request_key: str, model: str, shown: Callable[[UUID], Shown] = lambda _: Shown()
) -> asking.Asked:
    """Ask in other words, as a sibling of `question`; a reply to one of its versions that is being written is stopped.

    `text` has been through `checked_prompt`. `shown` says what viewers of a turn have seen, which is kept.

    Raises:
        Http404, NotEditable, KeyReused
        ConversationBusy: a reply to another question is being written.
    """
    if question.role != Message.Role.USER:
        raise NotEditable
    running = _live_turn_beside(question)
    # Outside the transaction: this asks Redis.
    seen = {running.pk: shown(running.pk)} if running else {}
    with transaction.atomic():
        conversation = tree.locked(question.conversation_id)
        tree.message_in(conversation, question.pk)
        is_repeated = asking.asked_before(conversation, request_key) is not None
        stopped = None if is_repeated else _stopped_beside(question, seen)
        asked = asking.ask(
            conversation.pk,
            text=text,
            request_key=request_key,
            parent_id=question.parent_id,
            model=model,
            is_branch=True,
        )
    if stopped is None:
        return asked
    # Words that came while this waited for the conversation, or of a reply that had begun meanwhile.
    turns.keep_seen(stopped, shown(stopped.pk))
    return asking.Asked(asked.turn, is_new=asked.is_new, stopped=stopped.pk)


def switch(conversation_id: UUID, message_id: int) -> int:
    """Go to the branch of a message, to where the owner last was on it, else to its newest end; returns the head.

    Harmless while a reply is being written: it goes on where it was asked for.

    Raises:
        Http404
    """
    with transaction.atomic():
        conversation = tree.locked(conversation_id)
        message = tree.message_in(conversation, message_id)
        if not tree.is_on_branch(message.pk, head_id=conversation.head_id):
            tree.move_head(conversation, tree.resting_place(message))
    head: int = conversation.head_id  # type: ignore[assignment]  # a conversation with a message has a head
    return head


def show(turn: Turn) -> None:
    """Go to the reply of a turn, or to where a live one without a word is about to write it.

    Raises:
        Http404
    """
    with transaction.atomic():
        conversation = tree.locked(turn.conversation_id)
        reply = Message.objects.filter(turn=turn, parent_id=turn.prompt_id).first()
        if reply is None and Turn.objects.live().filter(pk=turn.pk).exists():
            tree.move_head(conversation, turn.prompt_id)
        else:
            switch(conversation.pk, reply.pk if reply else turn.prompt_id)


@dataclass(frozen=True, slots=True)
class Removed:
    """`stopped` is the live turn that went with the messages."""

    head_id: int
    stopped: UUID | None


def remove(conversation_id: UUID, message_id: int) -> Removed:
    """Delete a version and everything below it, for good; a head below it falls back to its neighbour.

    Raises:
        Http404
        NoOtherVersion: the last one stays.
        Held
    """
    with transaction.atomic():
        conversation = tree.locked(conversation_id)
        tree.refuse_when_held(conversation)
        message = tree.message_in(conversation, message_id)
        versions = tree.children_of(conversation, {message.parent_id})[message.parent_id]
        siblings = tree.siblings_of(message.pk, versions)
        neighbour = siblings.previous or siblings.next
        if neighbour is None:
            raise NoOtherVersion
        running = Turn.objects.live().filter(conversation=conversation).first()
        if tree.is_on_branch(message.pk, head_id=conversation.head_id):
            conversation.head_id = tree.resting_place(tree.message_in(conversation, neighbour))
            conversation.save(update_fields=["head"])
        _delete(message)
        is_gone = running is not None and not Turn.objects.filter(pk=running.pk).exists()
    return Removed(conversation.head_id, stopped=running.pk if running and is_gone else None)  # type: ignore[arg-type]  # see `switch`


def _delete(message: Message) -> None:
    """One statement; the database takes along what hangs off it, with its turns and their traces."""
    if message.role == Message.Role.USER:
        Message.objects.filter(pk=message.pk).delete()
        return
    # A reply goes with its turn. Where that turn had brought the question, too, the question goes to another attempt.
    attempts = Turn.objects.filter(prompt_id=message.parent_id).exclude(pk=message.turn_id)
    if (other := attempts.order_by("created_at").first()) is None:
        raise NoOtherVersion
    Message.objects.filter(children=message, turn_id=message.turn_id).update(turn=other)
    Turn.objects.filter(pk=message.turn_id).delete()


def _live_turn_beside(question: Message) -> Turn | None:
    """The live turn that answers `question` or another version of it."""
    versions = Message.objects.filter(conversation_id=question.conversation_id, parent_id=question.parent_id)
    live: Turn | None = Turn.objects.live().filter(prompt__in=versions).first()
    return live


def _stopped_beside(question: Message, seen: dict[UUID, Shown]) -> Turn | None:
    """The live turn beside `question`, which is ended here and keeps what was `seen` of it."""
    running = _live_turn_beside(question)
    if running is None:
        return None
    status = Turn.Status.STOPPED
    turns.end_for_worker(running, status, seen=seen.get(running.pk, Shown()), now=timezone.now())
    return running
