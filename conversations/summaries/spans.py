"""Which messages a summary is to stand for next."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from uuid import UUID

from django.db import connection
from django.db.models import Q, Sum

from conversations import history
from conversations.context.pairs import MAX_CHARS, MAX_COMPLETED_PAIRS
from conversations.context.record import NEVER_SENT, Record
from conversations.context.values import StoredTurn, Summary
from conversations.context.windows import LEAST_LEFT, pairs, tokens_of
from conversations.models import Conversation, Message, Turn
from conversations.prompts import sends_pairs
from conversations.stand_ins import stand_ins
from conversations.summaries.wording import tokens_told
from conversations.tree import WHOLE_BRANCH

FULL = (4, 5)
"""A window that takes this share of its room will soon be cut: what will not be sent then is summarised ahead."""

AHEAD = (1, 3)
"""Of the room, at least: with so much gone the window goes on at about two thirds, as after any cut."""

STILL_AHEAD = (1, 4)
"""Of the room: what was summarised ahead when there was a little less of it."""

NO_LIMIT = 2**31 - 1
THIS_ONE = 1
"""Row: whether something is due depends on what ends at a message, and on nothing further up, however far that is."""

TOLD = (Message.Role.USER, Message.Role.ASSISTANT)
"""Whose messages are summarised; what tools brought is in the answers."""

Sized = tuple[int, str, int]
"""Id, role and tokens of a message."""

SPAN_SQL = """
    WITH RECURSIVE span (id, parent_id, role, tokens) AS (
        SELECT id, parent_id, role, tokens FROM conversations_message WHERE id = %(through)s
        UNION ALL
        SELECT m.id, m.parent_id, m.role, m.tokens
        FROM span JOIN conversations_message m ON m.id = span.parent_id WHERE m.id > %(after)s
    )
    SELECT id, role, tokens FROM span WHERE id > %(after)s ORDER BY id
"""
"""Sizes alone: it may be a long way."""


@dataclass(frozen=True, slots=True)
class Span:
    """Messages that follow one another on a branch, and the summary of what lies before them, if there is one."""

    before: Summary | None
    through: int
    """The last of them."""
    said: tuple[tuple[str, str], ...]
    """Role and text of each."""


def end_of_next(conversation: Conversation) -> int | None:
    """The message up to which the branch is to be summarised next; None while nothing is due.

    What the newest request left out and no summary stands for comes first. A window that is nearly full is cut soon:
    then a summary of its oldest turns is to be there. Five queries at most.
    """
    record, answered = _newest_request(conversation)
    if record is None:
        return None
    if sends_pairs():
        return _end_of_pairs(conversation, record)
    used = record.tokens_of("window") + record.tokens_of("prompt") + answered
    is_full = record.history > 0 and _is_share(used, FULL, record.history)
    left_out = _newest_left_out(record)
    if left_out is None and not is_full:
        return None
    turns = _turns_since(conversation, record.start) if is_full else ()
    found = stand_ins(
        conversation.pk, read=[number for one in turns for number in one.ids], before=left_out, rows=THIS_ONE
    )
    if left_out is not None and left_out not in [one.through for one in found]:
        return left_out
    return end_ahead(turns, record.history, through=[one.through for one in found])


def _end_of_pairs(conversation: Conversation, record: Record) -> int | None:
    """Where a summary is to end when pairs are sent: their window slides with each question.

    One that ends inside the window is sent as soon as it has to be. So the older half of the pairs that the next
    request may hold is summarised ahead, a turn before the first of them has to make way.
    """
    past = history.past_of(conversation.head_id, tokens=record.history, counts_incomplete=False)
    window = pairs("")(past, record.history)
    if window.reason == "not_complete" and not _is_nearly_full(window.turns, record.history):
        return None  # Nothing was left out, nor will be.
    ends = [turn.ids[-1] for turn in window.turns or past.turns[-1:]]
    read = [number for turn in past.turns for number in turn.ids]
    found = stand_ins(conversation.pk, read=read, before=past.unread, rows=THIS_ONE)
    reached = max((one.through for one in found), default=0)
    return None if reached >= ends[0] else ends[(len(ends) - 1) // 2]


def _is_nearly_full(pairs_sent: Sequence[StoredTurn], room: int) -> bool:
    characters = sum(len(turn.prompt) + len(turn.answer) for turn in pairs_sent)
    return (
        len(pairs_sent) == MAX_COMPLETED_PAIRS
        or _is_share(characters, FULL, MAX_CHARS)
        or _is_share(tokens_of(pairs_sent), FULL, room)
    )


def end_ahead(turns: Sequence[StoredTurn], room: int, *, through: Sequence[int]) -> int | None:
    """Where the oldest turns of a window end that make at least a third of its room.

    None when a summary ends about there, of those that end at the messages `through`, or when nothing would be left.
    Where the newest turn is larger than the room, nothing will be left of it either: then it belongs to them.
    """
    if turns and turns[-1].tokens > room:
        newest = turns[-1].ids[-1]
        return None if newest in through else newest
    spent = list(accumulate(turn.tokens for turn in turns))
    ends = [(turn.ids[-1], tokens) for turn, tokens in zip(turns[:-1], spent, strict=False)]
    for end, tokens in ends:
        is_enough = _is_share(tokens, STILL_AHEAD, room) and _is_share(spent[-1] - tokens, LEAST_LEFT, room)
        if end in through and is_enough:
            return None
    chosen = next((end for end, tokens in ends if _is_share(tokens, AHEAD, room)), None)
    return None if chosen in through else chosen


def _is_share(tokens: int, share: tuple[int, int], room: int) -> bool:
    """Whether these are at least that share of the room."""
    part, whole = share
    return tokens * whole >= room * part


def span_to(conversation_id: UUID, through: int, *, most: int = NO_LIMIT) -> Span | None:
    """The messages up to and including `through` that no summary stands for, as many of the oldest whole turns as take
    at most so many tokens, as they are stored and as they are told, but one at least; None: there are none."""
    before = next(iter(stand_ins(conversation_id, before=through, rows=WHOLE_BRANCH)), None)
    with connection.cursor() as cursor:
        cursor.execute(SPAN_SQL, {"through": through, "after": before.through if before else 0})
        found = _oldest_turns(cursor.fetchall(), most)
    rows = Message.objects.filter(conversation=conversation_id, pk__in=[number for number, _, _ in found])
    told = {row.pk: (row.role, row.text) for row in rows.filter(role__in=TOLD).order_by("pk")}
    sizes = {number: tokens_told(role, text) for number, (role, text) in told.items()}
    ids = [number for number, _, _ in _oldest_turns([(n, role, sizes.get(n, 0)) for n, role, _ in found], most)]
    return Span(before, ids[-1], tuple(told[number] for number in ids if number in told)) if ids else None


def _oldest_turns(rows: Sequence[Sized], most: int) -> Sequence[Sized]:
    spent, whole = 0, 0
    for at, (_, role, tokens) in enumerate(rows):
        if role == Message.Role.USER:
            whole = at
        spent += tokens
        if spent > most and whole:
            return rows[:whole]
    return rows


def _newest_request(conversation: Conversation) -> tuple[Record | None, int]:
    """Of the turn that ended last on the branch the record, and the tokens of what it brought."""
    if (head := conversation.head_id) is None:
        return None, 0
    # One query for both would read every turn of the conversation.
    asked = Turn.objects.filter(prompt=head).values_list("pk", flat=True)
    ids = {*asked, *Message.objects.filter(pk=head).values_list("turn", flat=True)}
    ended = Turn.objects.filter(pk__in=ids, conversation=conversation, finished_at__isnull=False)
    answered = Sum("messages__tokens", filter=~Q(messages__role=Message.Role.USER))
    rows = ended.annotate(answered=answered).order_by("-finished_at").values_list("context", "answered")
    return next(((Record.from_json(context), tokens or 0) for context, tokens in rows[:1]), (None, 0))


def _newest_left_out(record: Record) -> int | None:
    """The last message before the window, if it is one that might have been sent."""
    spans = [span for span in record.left_out if span.reason not in NEVER_SENT]
    return spans[-1].ids[-1] if spans else None


def _turns_since(conversation: Conversation, start: int) -> tuple[StoredTurn, ...]:
    """The turns of the window and the newest; none when the branch no longer leads through its start."""
    turns = history.past_of(conversation.head_id, tokens=NO_LIMIT, start=start).turns
    return turns if turns and start in turns[0].ids else ()
