"""Questions become turns: asked for the first time, asked again, never stored twice.

One short transaction stores question, turn and head together; whoever comes second finds what the first one stored.
"""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import User
from conversations import calibration, searching, tree
from conversations.models import Conversation, Message, Turn
from conversations.refusals import ConversationBusy, KeyReused, NewerMessages, TooManyReplies
from conversations.text import clean, clean_blocks, line, preview

QUEUE_PATIENCE = timedelta(minutes=2)
"""How long a turn may wait for a worker before the user is told that none came."""

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


def start(
    owner: User, *, text: str, request_key: str, model: str, goes_on_with: str = "", is_temporary: bool = False
) -> Asked:
    """Begin a conversation with a question; the same key from the same owner finds what it began.

    `text` has been through `checked_prompt`. `goes_on_with` becomes the conversation's own model (empty: the
    installation's).

    Raises:
        Http404: what it began is in the bin.
        ConversationBusy, KeyReused, NewerMessages, TooManyReplies
    """
    with transaction.atomic():
        conversation, _ = Conversation.objects.get_or_create(
            owner=owner,
            request_key=request_key,
            defaults={**fallback_title(text), "model": goes_on_with, "temporary": is_temporary},
        )
        return ask(conversation.pk, text=text, request_key=request_key, parent_id=None, model=model)


def ask(
    conversation_id: UUID,
    *,
    text: str,
    request_key: str,
    parent_id: int | None,
    model: str,
    is_branch: bool = False,
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
        return Asked(_stored_question(conversation, text, request_key, model), is_new=True)


def retry(turn: Turn, *, request_key: str, model: str, goes_on_with: str | None = None) -> Asked:
    """Have the question of an ended turn answered again, wherever it stands.

    The earlier answers stay as siblings, each with what was said after it. `goes_on_with` becomes the conversation's
    own model (empty: the installation's); None changes nothing about later turns.

    Raises:
        Http404, ConversationBusy, KeyReused, TooManyReplies
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
            lease_until=timezone.now() + QUEUE_PATIENCE,
        )
        _go_back_to(prompt, conversation)
        if goes_on_with is not None:
            conversation.model = goes_on_with
            conversation.save(update_fields=["model"])
    return Asked(again, is_new=True)


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
    _hold_the_count(conversation)
    live = Turn.objects.live().filter(conversation__owner=conversation.owner_id)
    running = dict(live.values_list("conversation", "pk"))
    if conversation.pk in running:
        raise ConversationBusy(running[conversation.pk])
    if len(running) >= (most := settings.POCKETCHAT_REPLIES_A_PERSON):
        raise TooManyReplies(most)


def _hold_the_count(conversation: Conversation) -> None:
    """Until the transaction ends: of questions sent at once into several conversations none counts without the others.

    Whoever holds it waits for nothing else, so nobody waits in a circle.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [REPLIES_OF_A_PERSON, str(conversation.owner_id)]
        )


def _stored_question(conversation: Conversation, text: str, request_key: str, model: str) -> Turn:
    """Question, turn and head together; the turn and its question name each other, which the database checks last."""
    now = timezone.now()
    turn = Turn(
        conversation=conversation,
        request_key=request_key,
        model=model,
        created_at=now,
        lease_until=now + QUEUE_PATIENCE,
    )
    prompt = Message.objects.create(
        conversation=conversation,
        turn_id=turn.pk,
        parent_id=conversation.head_id,
        role=Message.Role.USER,
        content=clean_blocks([{"type": "text", "text": text}]),
        tokens=calibration.message_tokens(text, model),
        created_at=now,
    )
    turn.prompt = prompt
    turn.save(force_insert=True)
    searching.write_asked(prompt)
    conversation.head = prompt
    conversation.last_activity_at = now
    if conversation.title_source == Conversation.TitleSource.NONE:
        for field, value in fallback_title(text).items():
            setattr(conversation, field, value)
    conversation.save(update_fields=["head", "last_activity_at", "title", "title_source"])
    return turn


def _go_back_to(prompt: Message, conversation: Conversation) -> None:
    """The answer will follow the question; should nothing come of it, its owner is led back to where they were."""
    if tree.is_on_branch(prompt.pk, head_id=conversation.head_id):
        prompt.resume_at_id = conversation.head_id
        prompt.save(update_fields=["resume_at"])
    tree.move_head(conversation, prompt.pk)


def fallback_title(text: str) -> dict[str, str]:
    """The fields of a conversation that is called by the first words of a text; none where it has no words."""
    title = line(preview(clean(text), FALLBACK_TITLE_CHARACTERS))
    return {"title": title, "title_source": Conversation.TitleSource.FALLBACK} if title else {}
