"""`make bench`: choosing a context, from the tables to the record, beside the least SQL that reads the messages."""

import json
import statistics
import time
from collections.abc import Callable

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from conversations.context.values import StoredMessage, Toolbox
from conversations.contexts import Question, context_of
from conversations.models import Conversation, Turn
from tests.bench.bench_replies import say
from tests.factories import exchange, make_conversation, make_user

pytestmark = pytest.mark.django_db

RUNS = 60
MODEL = "openai:gpt-5"

GROW = """
    INSERT INTO conversations_message (id, conversation_id, turn_id, parent_id, role, content, tokens, tokens_source,
                                       created_at)
    SELECT %(first)s + n, %(conversation)s, %(turn)s, %(first)s + n - 1,
           CASE n %% 2 WHEN 0 THEN 'assistant' ELSE 'user' END,
           jsonb_build_array(jsonb_build_object('type', 'text', 'text', repeat('word ', 50 + 180 * (1 - n %% 2)))),
           50 + 180 * (1 - n %% 2), 'usage', now()
    FROM generate_series(1, %(messages)s) AS n
"""
"""Turns of 280 tokens, as the average of a conversation is."""

BARE = """
    SELECT id, role, content, tokens FROM conversations_message WHERE conversation_id = %s ORDER BY id DESC LIMIT %s
"""
"""What a reader would ask who knew how many messages fit."""


def grown(messages: int) -> Conversation:
    """A conversation of so many messages, whose last turn has a record."""
    conversation = make_conversation(make_user())
    turn = exchange(conversation, "First?", "First.")
    conversation.refresh_from_db()
    facts = {"first": conversation.head_id, "conversation": conversation.pk, "turn": turn.pk, "messages": messages - 2}
    with connection.cursor() as cursor:
        cursor.execute(GROW, facts)
        cursor.execute(
            "SELECT setval(pg_get_serial_sequence('conversations_message', 'id'), max(id)) FROM conversations_message"
        )
        cursor.execute("ANALYZE conversations_message")
    Conversation.objects.filter(pk=conversation.pk).update(head=F("head") + messages - 2)
    conversation.refresh_from_db()
    Turn.objects.filter(pk=turn.pk).update(model=MODEL)
    first = context_of(question_in(conversation), tools=Toolbox()).record
    Turn.objects.filter(pk=turn.pk).update(context=first.as_json())
    return conversation


def question_in(conversation: Conversation) -> Question:
    return Question(conversation, conversation.head_id, StoredMessage(10**12, "user", "Why is that so?", 6), MODEL)


def timed(run: Callable[[], object]) -> list[float]:
    """Milliseconds of each of many runs."""
    took = []
    for _ in range(RUNS):
        began = time.perf_counter()
        run()
        took.append((time.perf_counter() - began) * 1000)
    return took


def bench_choosing_a_context(settings: Settings) -> None:
    settings.DEBUG = False
    settings.POCKETCHAT_RECALL = False  # `bench_recall_speed` measures what it adds.
    counts = set()
    for messages in (100, 1_000, 10_000, 100_000):
        conversation = grown(messages)
        question = question_in(conversation)

        def ours(question: Question = question) -> int:
            return len(json.dumps(context_of(question, tools=Toolbox()).record.as_json()))

        read = len(context_of(question, tools=Toolbox()).record.sent) - 1

        def bare(conversation: Conversation = conversation, read: int = read) -> int:
            with connection.cursor() as cursor:
                cursor.execute(BARE, [conversation.pk, read])
                return sum(row[3] for row in cursor.fetchall())

        with CaptureQueriesContext(connection) as queries:
            ours()
        counts.add(len(queries))
        here, floor = timed(ours), timed(bare)
        say(
            f"context of {messages:,} messages: {statistics.median(here):.2f} ms (best {min(here):.2f}) in "
            f"{len(queries)} queries, {read} messages sent; bare SQL {statistics.median(floor):.2f} ms "
            f"(best {min(floor):.2f}), ratio {statistics.median(here) / statistics.median(floor):.1f}"
        )
    assert len(counts) == 1
