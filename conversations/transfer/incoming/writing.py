"""A prepared conversation becomes rows, under numbers of their own: all of them or none."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID, uuid4

from django.db import connection

from accounts.models import User
from conversations import searching
from conversations.blocks import images_in, words_in
from conversations.models import Conversation, Message, Summary, Turn
from conversations.models.conversation import IMPORTED
from conversations.text import clean, clean_blocks, estimate_tokens
from conversations.transfer.batches import ROWS_AT_ONCE, batches
from conversations.transfer.incoming.preparing import Prepared
from conversations.transfer.incoming.values import NewConversation, NewMessage

CHARACTERS_AT_ONCE = 2_000_000
"""Of one statement."""

NUMBERS_SQL = "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)"

Ids = Mapping[int, int]
"""Of the file's numbers."""


def write(prepared: Prepared, owner: User) -> UUID:
    """The new conversation's id. Inside of a transaction.

    Raises:
        IntegrityError, DataError: the database knows a rule that it breaks.
    """
    read = prepared.conversation
    ids = _numbered(Message, (message.number for message in read.messages))
    turns = {turn.number: uuid4() for turn in read.turns}
    made = begin(prepared, owner, head_id=None if read.head is None else ids[read.head])
    summaries = _numbered(Summary, (summary.number for summary in read.summaries))
    Turn.objects.bulk_create(_turns(read, made, ids, turns, summaries), batch_size=ROWS_AT_ONCE)
    for batch in batches(read.messages, _weight, most=CHARACTERS_AT_ONCE):
        stored = Message.objects.bulk_create(_message(message, made, ids, turns) for message in batch)
        searching.write(message for message in stored if message.role in searching.SEARCHED_ROLES)
    Summary.objects.bulk_create(_summaries(read, made, ids, summaries), batch_size=ROWS_AT_ONCE)
    return made.pk


def begin(prepared: Prepared, owner: User, *, head_id: int | None = None) -> Conversation:
    """The conversation itself, with nothing in it yet."""
    carried = {name: getattr(prepared.conversation, name) for name in CARRIED}
    made: Conversation = Conversation.objects.create(
        owner=owner, request_key=prepared.request_key, head_id=head_id, **carried
    )
    return made


CARRIED = (
    "title",
    "title_source",
    "system_prompt",
    "model",
    "created_at",
    "last_activity_at",
    "pinned",
    "archived",
    "temporary",
    "kept",
    "summarises",
)
"""Fields of a conversation that are as they were."""


def _numbered(model: type[Message | Summary], numbers: Iterable[int]) -> Ids:
    """Ids for all of them, growing as the numbers do: a branch is in order by id."""
    known = sorted(numbers)
    with connection.cursor() as cursor:
        cursor.execute(NUMBERS_SQL, [model._meta.db_table, len(known)])
        return dict(zip(known, sorted(pk for (pk,) in cursor.fetchall()), strict=True))


def _turns(
    read: NewConversation, made: Conversation, ids: Ids, turns: Mapping[int, UUID], summaries: Ids
) -> Iterator[Turn]:
    for turn in read.turns:
        ended: dict[str, Any] = {"finished_at": turn.created_at, "lease_until": turn.created_at}
        yield Turn(
            id=turns[turn.number],
            conversation=made,
            prompt_id=ids[turn.prompt],
            status=turn.status,
            request_key=f"{IMPORTED}{read.source}:{turn.number}",
            model=clean(turn.model)[:200],
            created_at=turn.created_at,
            context=remapped(turn.context, ids, summaries),
            **(ended | turn.facts),
        )


def _message(message: NewMessage, made: Conversation, ids: Ids, turns: Mapping[int, UUID]) -> Message:
    return Message(
        id=ids[message.number],
        conversation=made,
        turn_id=turns[message.turn],
        parent_id=None if message.parent is None else ids[message.parent],
        resume_at_id=None if message.resume_at is None else ids.get(message.resume_at),
        role=message.role,
        content=list(message.content),
        tokens=message.tokens or 0,
        tokens_source=message.tokens_source,
        created_at=message.created_at,
    )


def _summaries(read: NewConversation, made: Conversation, ids: Ids, summaries: Ids) -> Iterator[Summary]:
    for summary in read.summaries:
        words = clean(summary.text)
        yield Summary(
            id=summaries[summary.number],
            conversation=made,
            through_message_id=ids[summary.through],
            text=words,
            tokens=estimate_tokens(words),
            source=summary.source,
            model=clean(summary.model),
            follows_id=None if summary.follows is None else summaries[summary.follows],
            created_at=summary.created_at,
        )


def _weight(message: NewMessage) -> int:
    content = list(message.content)
    return len(words_in(content)) + sum(len(picture.data) for picture in images_in(content))


def remapped(context: Mapping[str, Any] | None, ids: Ids, summaries: Ids) -> dict[str, Any] | None:
    """The record of a request under the new numbers. What names a message that is not there any more is left out: its
    number may be anybody's here. None where nothing is left that was sent.
    """
    if context is None:
        return None
    told: dict[str, Any] = clean_blocks(dict(context))
    sent = _known(told.get("sent"), ids)
    if not sent:
        return None
    through = told.get("summarised_through")
    told |= {"sent": sent, "start": sent[0]}
    for name in ("left_out", "recalled"):
        if isinstance(spans := told.get(name), list):
            told[name] = [
                span | {"ids": _known(span.get("ids"), ids)}
                for span in spans
                if isinstance(span, dict) and _known(span.get("ids"), ids)
            ]
    if "summary" in told:
        told["summary"] = summaries.get(told["summary"]) if isinstance(told["summary"], int) else None
    if "summarised_through" in told:
        told["summarised_through"] = ids.get(through) if isinstance(through, int) else None
    return told


def _known(numbers: Any, ids: Ids) -> list[int]:
    found = numbers if isinstance(numbers, list) else []
    return [ids[number] for number in found if isinstance(number, int) and number in ids]
