"""The messages of a reply: a chain behind the question, written as they become known."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from conversations import history, sweeping, turns
from conversations.answers import Said
from conversations.blocks import call_block, calls_in, result_block, results_in, words_in
from conversations.models import Conversation, Message, Turn
from conversations.providers.values import ToolCall, ToolResult
from conversations.streams import Shown
from conversations.text import clean_blocks
from conversations.views.thread import thread_of, turn_view
from tests.factories import ask, exchange

CALL = ToolCall("call_1", "current_time", "{}")
RESULT = ToolResult("call_1", "current_time", "It is late.")


def text(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": words}]


CALLED = Said(Message.Role.ASSISTANT, [*text("Let me look."), call_block(CALL)], 20)
RETURNED = Said(Message.Role.TOOL, [result_block(RESULT)])


@pytest.mark.parametrize(
    "stored", [[{"type": "text"}], [{"type": "text", "text": None}], [{}], ["words"], [None], [{"type": ["text"]}]]
)
def test_whatever_was_stored_breaks_neither_page_nor_api_nor_context(
    conversation: Conversation, page: Client, api: APIClient, stored: list[Any]
) -> None:
    turn = exchange(conversation)
    Message.objects.filter(turn=turn, role="assistant").update(content=stored)
    assert page.get(f"/c/{conversation.pk}/").status_code == 200
    assert api.get(f"/api/v1/conversations/{conversation.pk}/messages").status_code == 200
    conversation.refresh_from_db()
    assert history.past_of(ask(conversation, "And?").prompt.parent_id, tokens=1000).turns[0].messages[0].text == "Why?"


def streaming(conversation: Conversation, *, lease: int = 15) -> Turn:
    conversation.refresh_from_db()
    turn = ask(conversation)
    claimed = turns.claim(turn.pk, lease=timedelta(seconds=lease))
    assert claimed
    return claimed


def roles(conversation: Conversation) -> list[str]:
    conversation.refresh_from_db()
    return [message.role for message in Message.objects.branch(conversation.head_id, rows=100)]


@pytest.mark.django_db
def test_each_message_is_written_once_and_answers_the_one_before(conversation: Conversation) -> None:
    turn = streaming(conversation)
    turns.save_partial(turn, text("Let me"))
    turns.save_partial(turn, [], earlier=[CALLED])
    turns.save_partial(turn, [], earlier=[CALLED, RETURNED])
    turns.save_partial(turn, text("It"), earlier=[CALLED, RETURNED])
    turns.finish(turn, turns.Outcome(Turn.Status.COMPLETE, text("It is late."), earlier=[CALLED, RETURNED]))
    assert roles(conversation) == ["user", "assistant", "tool", "assistant"]
    messages = list(Message.objects.filter(turn=turn).order_by("id"))
    assert [message.parent_id for message in messages] == [None, *(message.pk for message in messages[:-1])]
    assert [message.text for message in messages] == ["Why?", "Let me look.", "", "It is late."]
    assert all(message.tokens > 0 for message in messages)


@pytest.mark.django_db
def test_an_older_state_that_comes_late_overwrites_nothing(conversation: Conversation) -> None:
    turn = streaming(conversation)
    turns.save_partial(turn, text("It"), earlier=[CALLED, RETURNED])
    turns.save_partial(turn, text("Let me"))
    assert [message.text for message in Message.objects.order_by("id")] == ["Why?", "Let me look.", "", "It"]


@pytest.mark.django_db
def test_the_head_stays_where_the_owner_moved_it(conversation: Conversation) -> None:
    exchange(conversation)
    conversation.refresh_from_db()
    elsewhere = conversation.head_id
    turn = streaming(conversation)
    turns.save_partial(turn, [], earlier=[CALLED])
    Conversation.objects.filter(pk=conversation.pk).update(head=elsewhere)
    turns.finish(turn, turns.Outcome(Turn.Status.COMPLETE, text("It is late."), earlier=[CALLED, RETURNED]))
    conversation.refresh_from_db()
    assert conversation.head_id == elsewhere


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("saved", "shown", "kept"),
    [
        ([CALLED], Shown("It is", calls=1), ["Let me look."]),  # No word follows calls without results.
        ([Said(Message.Role.ASSISTANT, [call_block(CALL)])], Shown("It is", calls=1), [""]),
        ([CALLED, RETURNED], Shown("It is", calls=1), ["Let me look.", "", "It is"]),
        ([CALLED, RETURNED], Shown("Let me look.", calls=0), ["Let me look.", ""]),
        ([CALLED, RETURNED], Shown("", calls=1), ["Let me look.", ""]),
        ([], Shown("Let me", calls=0), ["Let me"]),
    ],
)
def test_of_a_lost_worker_all_that_was_stored_or_seen_is_kept(
    conversation: Conversation, saved: list[Said], shown: Shown, kept: list[str]
) -> None:
    turn = streaming(conversation, lease=-1)
    turns.save_partial(turn, [], earlier=saved)
    sweeping.sweep(now=timezone.now(), shown=lambda _: shown)
    assert [message.text for message in Message.objects.order_by("id")][1:] == kept
    assert all(message.tokens > 0 for message in Message.objects.all())


@pytest.mark.django_db
def test_words_that_were_seen_replace_the_words_alone(conversation: Conversation) -> None:
    turn = streaming(conversation, lease=-1)
    thinking = {"type": "thinking", "text": "They ask why."}
    turns.save_partial(turn, [thinking, *text("Be")])
    sweeping.sweep(now=timezone.now(), shown=lambda _: Shown("Because", calls=0))
    assert Message.objects.get(turn=turn, role="assistant").content == [thinking, *text("Because")]


@pytest.mark.django_db
def test_a_page_shows_the_words_and_the_calls_in_their_order(conversation: Conversation) -> None:
    turn = streaming(conversation)
    turns.save_partial(turn, [], earlier=[CALLED])
    running = turn_view(Turn.objects.get(pk=turn.pk)).parts
    assert [getattr(part, "status", "words") for part in running] == ["words", "running"]
    turns.finish(turn, turns.Outcome(Turn.Status.STOPPED, [], earlier=[CALLED]))
    conversation.refresh_from_db()
    shown = thread_of(conversation).turns[0]
    assert [getattr(part, "status", "words") for part in shown.parts] == ["words", "unfinished"]
    assert shown.is_newest
    assert shown.answer_text == "Let me look."


@pytest.mark.django_db
def test_the_pages_queries_do_not_grow_with_the_calls(
    conversation: Conversation, django_assert_num_queries: Any
) -> None:
    for _ in range(3):
        turn = streaming(conversation)
        rounds = [CALLED, RETURNED] * 4
        turns.finish(turn, turns.Outcome(Turn.Status.COMPLETE, text("So."), earlier=rounds))
    conversation.refresh_from_db()
    with django_assert_num_queries(3):
        for shown in thread_of(conversation).turns:
            assert len(shown.parts) == 9


DEEP = '{"a": ' + "[" * 700 + "]" * 700 + "}"
"""What json.loads just manages, and what reads it afterwards does not."""


@pytest.mark.parametrize(
    ("arguments", "stored"),
    [
        ("{}", {}),
        ('{"a": [1]}', {"a": [1]}),
        ('{"a": ', '{"a": '),
        ("[1]", "[1]"),
        ("", ""),
        ("[" * 99_999, "[" * 99_999),
        (DEEP, DEEP),
        ('{"a": NaN}', '{"a": NaN}'),
        ('{"a": [-Infinity]}', '{"a": [-Infinity]}'),
        ('{"a": 1e400}', '{"a": 1e400}'),
        ('{"a": 1.5e3}', {"a": 1500.0}),
    ],
)
def test_arguments_are_stored_as_an_object_or_as_they_were_written(arguments: str, stored: Any) -> None:
    block = call_block(ToolCall("1", "look", arguments))
    assert block["input"] == stored
    assert clean_blocks(block) == json.loads(json.dumps(block, allow_nan=False))
    assert calls_in([block])[0].name == "look"


@pytest.mark.parametrize(
    "content", [None, [], [None], ["text"], [{"type": "tool_use"}, {"type": "tool_result", "content": 5}]]
)
def test_whatever_was_stored_can_be_read(content: Any) -> None:
    calls_in(content)
    results_in(content)
    words_in(content)
