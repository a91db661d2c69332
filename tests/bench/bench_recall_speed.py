"""`make bench`: one recall in a long conversation, beside the bare SQL that reads the same rows."""

import statistics
from collections.abc import Iterator
from itertools import count
from pydoc_data.topics import topics

import numpy as np
import pytest
from django.db import connection
from pytest_django import Settings

from conversations import meaning, recollections
from conversations.context.values import Toolbox
from conversations.contexts import Question, context_of
from conversations.index.matches import literal
from conversations.index.writing import WRITE_SQL
from conversations.models import Conversation, Message
from conversations.models.embedding import VERSION
from conversations.providers.registry import embedder
from conversations.recall.words import said
from tests.bench.bench_context import grown, question_in, timed
from tests.bench.bench_replies import say

pytestmark = pytest.mark.django_db

MESSAGES = 10_000
WORDS = (60, 400)
"""Of a message: as people write, and as models do."""

QUESTIONS = {
    "short": "How is a string literal formatted?",
    "long": " ".join(topics["assignment"].split()[:120]),
    "Chinese": "我们上个月在东京讨论的那个关于数据库的计划后来怎么样了？",
}

BARE = """
    SELECT count(*), max(vector <#> %s::halfvec) FROM conversations_embedding
    WHERE conversation_id = %s AND words @@ to_tsquery('english', 'string | literal | format')
"""


def texts(length: int) -> Iterator[str]:
    """English as people write it, cut into messages of so many words; no two begin at the same word."""
    words = " ".join(topics.values()).split()
    for start in count(step=37):
        at = start % (len(words) - length)
        yield " ".join(words[at : at + length])


def indexed(conversation: Conversation, length: int) -> None:
    """Rows as `index.write` makes them, but for the vectors, which say nothing: their products take as long."""
    random = np.random.default_rng(1)
    ids = Message.objects.filter(conversation=conversation).order_by("pk").values_list("pk", flat=True)
    rows = [
        (embedder().name, literal(random.normal(0, 0.04, 512).tolist()), "english", "english", text, VERSION, pk)
        for pk, text in zip(ids, map(said, texts(length)), strict=False)
    ]
    with connection.cursor() as cursor:
        cursor.executemany(WRITE_SQL, rows)
        cursor.execute("ANALYZE conversations_embedding")


@pytest.mark.parametrize("length", WORDS)
def bench_one_recall(settings: Settings, length: int) -> None:
    settings.DEBUG = False
    conversation = grown(MESSAGES)
    indexed(conversation, length)
    [vector] = embedder().embed([QUESTIONS["short"]], seconds=60).vectors
    say(f"{MESSAGES:,} messages of {length} words: {size_of('conversations_embedding')}")
    for name in ("short", "long"):
        say(f"embedding, {name:21} {told(timed(lambda name=name: embedder().embed([QUESTIONS[name]], seconds=60)))}")  # type: ignore[misc]  # mypy takes a default for no argument

    def bare() -> None:
        with connection.cursor() as cursor:
            cursor.execute(BARE, [literal(vector), conversation.pk])
            cursor.fetchall()

    floor = timed(bare)
    say(f"bare SQL                         {told(floor)}")
    for name, question in QUESTIONS.items():

        def recall(question: str = question) -> None:
            meaning.forget()
            recollections.recollections(conversation.pk, conversation.head_id, question, completes_index=True)

        took = timed(recall)
        ratio = statistics.median(took) / statistics.median(floor)
        say(f"recall, {name:24} {told(took)}, {ratio:.1f} × the bare SQL (best {min(took) / min(floor):.1f})")


INDEX = """
    INSERT INTO conversations_embedding
        (message_id, conversation_id, embedder, vector, language, words, version, created_at)
    SELECT id, conversation_id, %s, %s::halfvec, 'english', strip(to_tsvector('english', %s || id)), 2, now()
    FROM conversations_message WHERE conversation_id = %s
"""
"""All messages say the same and another number."""


def bench_a_context_with_recall(settings: Settings) -> None:
    settings.DEBUG = False
    text = next(texts(WORDS[0]))
    for messages in (100, 1_000, 10_000, 100_000):
        conversation = grown(messages)
        [vector] = embedder().embed([text], seconds=60).vectors
        with connection.cursor() as cursor:
            cursor.execute(INDEX, [embedder().name, literal(vector), f"{text} ", conversation.pk])
            cursor.execute("ANALYZE conversations_embedding")
        question = question_in(conversation)

        def context(question: Question = question) -> None:
            meaning.forget()
            context_of(question, tools=Toolbox(), completes_index=True)

        settings.POCKETCHAT_RECALL = False
        without = timed(context)
        settings.POCKETCHAT_RECALL = True
        took = timed(context)
        say(f"context of {messages:,} messages with recall: {told(took)}; without {told(without)}")


def told(took: list[float]) -> str:
    return f"{statistics.median(took):6.1f} ms (best {min(took):.1f}, p95 {statistics.quantiles(took, n=20)[-1]:.1f})"


def size_of(table: str) -> str:
    """Of its rows, and of what PostgreSQL keeps beside them because it is too long."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_relation_size(oid), pg_relation_size(reltoastrelid) FROM pg_class WHERE relname = %s", [table]
        )
        rows, beside = cursor.fetchone()
    return f"{rows / 2**20:.0f} MiB in rows, {beside / 2**20:.0f} MiB beside them"
