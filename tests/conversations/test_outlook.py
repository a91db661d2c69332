"""The context that lies ahead is the one that the worker's own function makes."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts.models import User
from conversations import branches
from conversations.context.record import Record
from conversations.contexts import context_of, question_of, record_context
from conversations.models import Conversation, Turn
from conversations.outlook import UNSENT, context_ahead, next_context
from conversations.providers.registry import BUNDLED
from conversations.refusals import PromptTooLong
from conversations.tools.registry import OWN
from conversations.tools.toolbox import toolbox, toolbox_before
from tests.factories import answer, ask, exchange, make_conversation, regenerate, reply_of

pytestmark = pytest.mark.django_db

MODEL = "openai:scripted"
LONG = "word " * 80
"""100 tokens."""


@pytest.fixture(autouse=True)
def _small(settings: Settings) -> None:
    settings.POCKETCHAT_CHAT_MODEL = MODEL
    settings.POCKETCHAT_HISTORY_TOKENS = 400


def as_worker(turn: Turn) -> Record:
    """What a worker makes and records when it begins."""
    tools = {tool.spec.name: tool for tool in OWN}
    record = context_of(question_of(turn), tools=toolbox(tools)).record
    record_context(turn, record.as_json())
    return record


def test_it_is_what_the_worker_sends_when_the_question_is_asked(conversation: Conversation) -> None:
    for number in range(12):
        if number:
            conversation.refresh_from_db()
            ahead = next_context(conversation, f"Question {number}?").record
        turn = ask(conversation, f"Question {number}?")
        sent = as_worker(turn)
        if number:
            assert (*ahead.sent[:-1], turn.prompt_id) == sent.sent
            assert (ahead.sections, ahead.left_out, ahead.was_cut) == (sent.sections, sent.left_out, sent.was_cut)
            assert (ahead.tools, ahead.history, ahead.window) == (sent.tools, sent.history, sent.window)
        answer(turn, LONG)
    assert sent.left_out


def test_a_question_that_is_not_sent_has_no_id(conversation: Conversation) -> None:
    exchange(conversation)
    conversation.refresh_from_db()
    record = next_context(conversation, "And?").record
    assert record.sent[-1] == UNSENT
    assert len(record.sent) == 3


def test_a_conversation_about_to_begin_has_instructions_tools_and_the_question() -> None:
    record = next_context(None, "Why?").record
    assert [section.name for section in record.sections] == ["system", "tools", "window", "prompt"]
    assert record.left_out == ()


def test_a_question_too_long_is_refused_as_it_will_be(conversation: Conversation, settings: Settings) -> None:
    with pytest.raises(PromptTooLong) as refused:
        next_context(conversation, "word " * 8000)
    assert refused.value.unit == "tokens"
    settings.POCKETCHAT_PROMPT_CHARACTERS = 10
    with pytest.raises(PromptTooLong) as refused:
        next_context(conversation, "x" * 11)
    assert refused.value.unit == "characters"


def test_while_a_reply_is_written_it_is_that_of_its_turn(conversation: Conversation) -> None:
    exchange(conversation)
    turn = ask(conversation, "And?")
    conversation.refresh_from_db()
    queued = context_ahead(conversation, "Something typed meanwhile")
    assert (queued.turn, queued.prompt) == (turn, "And?")
    recorded = as_worker(turn)
    assert queued.record == recorded
    assert context_ahead(conversation).record == recorded


def test_a_reply_on_another_branch_is_not_what_lies_ahead(conversation: Conversation) -> None:
    first = exchange(conversation)
    exchange(conversation, "And?", "So.")
    regenerate(first)
    conversation.refresh_from_db()
    assert context_ahead(conversation).turn is not None
    branches.switch(conversation.pk, reply_of(first).pk)
    conversation.refresh_from_db()
    ahead = context_ahead(conversation)
    assert ahead.turn is None
    assert len(ahead.record.sent) == 5


def test_before_a_worker_has_told_our_own_tools_are_assumed(conversation: Conversation) -> None:
    assert toolbox_before(conversation.pk, model=MODEL) == toolbox({tool.spec.name: tool for tool in OWN})


def test_what_was_offered_last_is_read_without_the_turns_before(conversation: Conversation) -> None:
    with connection.cursor() as cursor, CaptureQueriesContext(connection) as queries:
        cursor.execute("SET LOCAL enable_seqscan = off")
        toolbox_before(conversation.pk, model=MODEL)
        cursor.execute("EXPLAIN " + queries[-1]["sql"])
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "Index Scan using turn_with_context" in plan
    assert "Sort" not in plan


def test_what_a_worker_last_offered_the_model_is_taken(conversation: Conversation) -> None:
    for model, tools in ((MODEL, ["files_read"]), ("openai:other", ["weather_now"])):
        turn = exchange(conversation)
        Turn.objects.filter(pk=turn.pk).update(
            model=model, context={"sent": [1], "sections": {"system": 1, "tools": 777}, "tools": tools}
        )
    known = toolbox_before(conversation.pk, model=MODEL)
    assert ([spec.name for spec in known.specs], known.tokens) == (["files_read"], 777)
    assert next_context(conversation).record.tools == ("files_read",)


@pytest.mark.parametrize("context", [{"sent": [1], "sections": {"system": 1}}, {"sections": {"tools": "x"}}])
def test_a_model_that_was_offered_none_is_offered_none(conversation: Conversation, context: dict[str, Any]) -> None:
    Turn.objects.filter(pk=exchange(conversation).pk).update(context=context)
    assert toolbox_before(conversation.pk, model=MODEL).specs == ()


def test_no_tools_are_offered_where_none_are_wanted(conversation: Conversation, settings: Settings) -> None:
    assert toolbox_before(conversation.pk, model=BUNDLED).specs == ()
    settings.POCKETCHAT_TOOLS = False
    assert toolbox_before(conversation.pk, model=MODEL).specs == ()


def test_a_turn_of_another_persons_conversation_tells_nothing(conversation: Conversation, stranger: User) -> None:
    theirs = exchange(make_conversation(stranger))
    Turn.objects.filter(pk=theirs.pk).update(context={"sections": {"tools": 777}, "tools": ["secret"]})
    assert "secret" not in next_context(conversation).record.tools
