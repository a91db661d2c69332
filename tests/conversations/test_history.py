"""The past of a branch, read from the table: as far back as it counts, in one query."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from conversations import history
from conversations.context.record import LeftOut, Record
from conversations.context.values import Past
from conversations.context.windows import MOST_MESSAGES
from conversations.models import Conversation, Message, Turn
from tests.factories import answer, ask, edit, exchange, make_conversation, regenerate, reply_of

pytestmark = pytest.mark.django_db


def head_of(conversation: Conversation) -> int:
    conversation.refresh_from_db()
    assert conversation.head_id is not None
    return conversation.head_id


def past(conversation: Conversation, *, tokens: int = 10_000, start: int | None = None) -> Past:
    return history.past_of(head_of(conversation), tokens=tokens, start=start)


def texts(past: Past) -> list[str]:
    return [message.text for turn in past.turns for message in turn.messages]


def sized(conversation: Conversation, tokens: int) -> None:
    """Let every message of the conversation take so many tokens."""
    Message.objects.filter(conversation=conversation).update(tokens=tokens)


def test_before_the_first_question_there_is_nothing_and_nothing_is_asked() -> None:
    with CaptureQueriesContext(connection) as queries:
        assert history.past_of(None, tokens=1000) == Past()
        assert history.record_before(None, model="openai:scripted") is None
    assert len(queries) == 0


def test_a_branch_that_was_read_to_its_beginning_has_nothing_unread(conversation: Conversation) -> None:
    exchange(conversation, "One?", "1")
    exchange(conversation, "Two?", "2")
    found = past(conversation)
    assert texts(found) == ["One?", "1", "Two?", "2"]
    assert (found.unread, found.unread_tokens, found.opening) == (None, 0, ())
    assert [len(turn.messages) for turn in found.turns] == [2, 2]


@pytest.mark.parametrize(
    ("tokens", "turns", "unread_tokens"),
    [(60, 3, 0), (59, 3, 0), (49, 2, 10), (40, 2, 10), (39, 2, 0), (9, 0, 10), (0, 0, 10)],
)
def test_reading_stops_with_the_message_that_exceeds_the_tokens(
    conversation: Conversation, tokens: int, turns: int, unread_tokens: int
) -> None:
    made = [exchange(conversation, f"{number}?", str(number)) for number in range(3)]
    sized(conversation, 10)
    found = past(conversation, tokens=tokens)
    assert (len(found.turns), found.unread_tokens) == (turns, unread_tokens)
    if turns == 3:
        assert found.unread is None
    else:
        behind = made[3 - turns].prompt.parent_id if turns else head_of(conversation)
        assert found.unread == behind


def test_reading_stops_at_the_start(conversation: Conversation) -> None:
    made = [exchange(conversation, f"{number}?", str(number)) for number in range(4)]
    found = past(conversation, start=made[2].prompt_id)
    assert texts(found) == ["2?", "2", "3?", "3"]
    assert (found.unread, found.unread_tokens) == (made[2].prompt.parent_id, 0)


def test_a_start_that_is_not_on_the_branch_stops_nothing(conversation: Conversation) -> None:
    exchange(conversation, "One?", "1")
    two = exchange(conversation, "Two?", "2")
    edit(two.prompt, "Other?", "3")
    assert texts(past(conversation, start=two.prompt_id)) == ["One?", "1", "Other?", "3"]
    assert texts(past(conversation, start=10**12)) == ["One?", "1", "Other?", "3"]


def test_a_start_further_back_than_the_tokens_is_not_reached(conversation: Conversation) -> None:
    made = [exchange(conversation, f"{number}?", str(number)) for number in range(4)]
    sized(conversation, 10)
    found = past(conversation, tokens=25, start=made[0].prompt_id)
    assert texts(found) == ["3?", "3"]
    assert found.unread is not None


def test_only_the_chosen_versions_are_read(conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "Because.")
    regenerate(first, "So.")
    again = regenerate(first, "Thus.")
    exchange(conversation, "And?", "Then.")
    assert texts(past(conversation)) == ["Why?", "Thus.", "And?", "Then."]
    assert texts(history.past_of(reply_of(first).pk, tokens=1000)) == ["Why?", "Because."]
    assert texts(history.past_of(reply_of(again).pk, tokens=1000)) == ["Why?", "Thus."]


@pytest.mark.parametrize("status", [Turn.Status.STOPPED, Turn.Status.FAILED, Turn.Status.INTERRUPTED])
def test_what_did_not_come_to_its_end_is_told_apart(conversation: Conversation, status: Turn.Status) -> None:
    facts = {"error_code": "provider_down"} if status == Turn.Status.FAILED else {}
    answer(ask(conversation, "One?"), "1", status=status, **facts)
    exchange(conversation, "Two?", "2")
    answer(ask(conversation, "Three?"), "", status=status, **facts)
    found = past(conversation)
    assert [turn.is_complete for turn in found.turns] == [False, True, False]


def test_an_answer_that_is_still_written_is_not_complete(conversation: Conversation) -> None:
    ask(conversation, "One?")
    assert [turn.is_complete for turn in past(conversation).turns] == [False]


def test_a_second_attempt_completes_the_turn_that_failed(conversation: Conversation) -> None:
    failed = answer(ask(conversation, "One?"), "", status=Turn.Status.FAILED, error_code="provider_down")
    regenerate(failed, "1")
    assert [turn.is_complete for turn in past(conversation).turns] == [True]


def test_turns_that_did_not_come_to_their_end_need_not_count(conversation: Conversation) -> None:
    exchange(conversation, "One?", "1")
    for _ in range(3):
        answer(ask(conversation, "Long?"), "long", status=Turn.Status.STOPPED)
    exchange(conversation, "Two?", "2")
    sized(conversation, 10)
    head = head_of(conversation)
    assert len(history.past_of(head, tokens=40).turns) == 2
    assert len(history.past_of(head, tokens=39, counts_incomplete=False).turns) == 5
    assert len(history.past_of(head, tokens=9, counts_incomplete=False).turns) == 0
    answer(ask(conversation, "Long?"), "long", status=Turn.Status.STOPPED)
    sized(conversation, 10)
    assert len(history.past_of(head_of(conversation), tokens=9, counts_incomplete=False).turns) == 1


def grown(owner: User, messages: int, *, roles: tuple[str, ...] = ("user", "assistant")) -> Conversation:
    """A conversation of so many messages of one turn, as an import would write them: three tokens each."""
    conversation = make_conversation(owner)
    turn = exchange(conversation, "First?", "First.")
    pks = [*Message.objects.filter(conversation=conversation).order_by("pk").values_list("pk", flat=True)]
    first = pks[-1] + 1
    Message.objects.bulk_create(
        Message(
            pk=pk,
            conversation=conversation,
            turn=turn,
            parent_id=pk - 1,
            role=roles[at % len(roles)],
            content=[{"type": "text", "text": f"{at}"}],
            tokens=3,
        )
        for at, pk in enumerate(range(first, first + messages - 2))
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval(pg_get_serial_sequence('conversations_message', 'id'), %s)", [first + messages])
    Conversation.objects.filter(pk=conversation.pk).update(head_id=first + messages - 3)
    return conversation


@pytest.mark.parametrize("messages", [MOST_MESSAGES, MOST_MESSAGES + 2])
def test_at_most_a_thousand_messages_are_read(owner: User, messages: int) -> None:
    conversation = grown(owner, messages)
    found = past(conversation, tokens=10**9)
    read = [number for turn in found.turns for number in turn.ids]
    assert len(read) == MOST_MESSAGES
    assert (found.unread is None) == (messages == MOST_MESSAGES)
    assert read[-1] == head_of(conversation)


def test_a_turn_that_was_read_in_half_is_left_unread(owner: User) -> None:
    conversation = grown(owner, 3001, roles=("user", "assistant", "assistant"))
    found = past(conversation, tokens=10**9)
    assert all(turn.messages[0].role == "user" for turn in found.turns)
    assert sum(len(turn.messages) for turn in found.turns) < MOST_MESSAGES
    assert found.unread == found.turns[0].ids[0] - 1
    assert found.unread_tokens == 3 * (MOST_MESSAGES - sum(len(turn.messages) for turn in found.turns))


@pytest.mark.parametrize("messages", [10, 400, 2000])
def test_one_query_reads_the_past_however_long_it_is(owner: User, messages: int) -> None:
    conversation = grown(owner, messages)
    head = head_of(conversation)
    with CaptureQueriesContext(connection) as queries:
        history.past_of(head, tokens=300)
    assert len(queries) == 1


def test_what_stands_before_the_first_question_is_the_opening(conversation: Conversation) -> None:
    turn = exchange(conversation, "Why?", "Because.")
    Message.objects.filter(pk=turn.prompt_id).update(role="assistant")
    exchange(conversation, "And?", "Then.")
    found = past(conversation)
    assert texts(found) == ["And?", "Then."]
    assert found.opening == (turn.prompt_id, turn.prompt_id + 1)
    assert found.unread is None


def test_a_branch_without_any_question_is_all_opening(conversation: Conversation) -> None:
    turn = answer(ask(conversation, "Why?"), "", status=Turn.Status.STOPPED)
    Message.objects.filter(pk=turn.prompt_id).update(role="system")
    assert past(conversation) == Past(opening=(turn.prompt_id,))


def test_a_parent_that_was_deleted_meanwhile_leaves_nothing() -> None:
    assert history.past_of(10**12, tokens=1000) == Past(unread=10**12)


def record(start: int) -> Record:
    return Record(sections=(), sent=(start,), left_out=(LeftOut((1,), "turn_too_large"),))


def test_the_record_before_is_that_of_the_turn_that_brought_the_message(conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "Because.")
    second = regenerate(first, "So.")
    Turn.objects.filter(pk=first.pk).update(context=record(11).as_json())
    Turn.objects.filter(pk=second.pk).update(context=record(12).as_json())
    assert history.record_before(reply_of(first).pk, model=first.model) == record(11)
    assert history.record_before(reply_of(second).pk, model=first.model) == record(12)
    assert history.record_before(reply_of(second).pk, model="openai:other") is None


@pytest.mark.parametrize("stored", [None, {}, [], "sent", {"sent": ["x"], "sections": {}}, {"sent": [1]}, 7])
def test_a_record_that_cannot_be_read_is_none(conversation: Conversation, stored: object) -> None:
    turn = exchange(conversation)
    Turn.objects.filter(pk=turn.pk).update(context=stored)
    assert history.record_before(head_of(conversation), model=turn.model) is None


def test_blocks_of_any_kind_are_read(conversation: Conversation) -> None:
    turn = exchange(conversation)
    content = [
        {"type": "text"},
        {"type": "tool_use", "id": 5, "input": None},
        {"type": "tool_result", "content": [1]},
        {"type": "image"},
        {"type": "unheard of"},
        {},
    ]
    Message.objects.filter(pk=turn.prompt_id + 1).update(content=content)
    (found,) = past(conversation).turns
    assert found.messages[1].text == ""
    assert (len(found.messages[1].calls), len(found.messages[1].results), found.messages[1].images) == (1, 1, ())
