"""`make bench`: one recall in a long conversation, beside the bare SQL that reads the same rows."""

import statistics
from collections.abc import Iterator
from itertools import count
from pydoc_data.topics import topics

import numpy as np
import pytest
from django.db import connection
from pytest_django import Settings

from conversations import index
from conversations.models import Conversation, Message
from conversations.providers.registry import embedder
from conversations.recall.words import spaced
from tests.bench.bench_context import grown, timed
from tests.bench.bench_replies import say

pytestmark = pytest.mark.django_db

MESSAGES = 10_000
WORDS = 60
"""Of a message."""

QUESTIONS = {
    "short": "How is a string literal formatted?",
    "long": " ".join(topics["assignment"].split()[:120]),
    "Chinese": "我们上个月在东京讨论的那个关于数据库的计划后来怎么样了？",
}

BARE = """
    SELECT count(*), max(vector <#> %s::halfvec) FROM conversations_embedding
    WHERE conversation_id = %s AND words @@ to_tsquery('english', 'string | literal | format')
"""


def texts() -> Iterator[str]:
    """English as people write it, cut into messages; no two begin at the same word."""
    words = " ".join(topics.values()).split()
    for start in count(step=37):
        at = start % (len(words) - WORDS)
        yield " ".join(words[at : at + WORDS])


def indexed(conversation: Conversation) -> None:
    """Rows as `index.write` makes them, but for the vectors, which say nothing: their products take as long."""
    random = np.random.default_rng(1)
    ids = Message.objects.filter(conversation=conversation).order_by("pk").values_list("pk", flat=True)
    rows = [
        (embedder().name, index._literal(random.normal(0, 0.04, 512).tolist()), "english", "english", text, pk)
        for pk, text in zip(ids, map(spaced, texts()), strict=False)
    ]
    with connection.cursor() as cursor:
        cursor.executemany(index.WRITE_SQL, rows)
        cursor.execute("ANALYZE conversations_embedding")


def bench_one_recall(settings: Settings) -> None:
    settings.DEBUG = False
    conversation = grown(MESSAGES)
    indexed(conversation)
    [vector] = embedder().embed([QUESTIONS["short"]])
    say(f"embedding of a question   {statistics.median(timed(lambda: embedder().embed([QUESTIONS['long']]))):6.1f} ms")

    def bare() -> None:
        with connection.cursor() as cursor:
            cursor.execute(BARE, [index._literal(vector), conversation.pk])
            cursor.fetchall()

    say(f"bare SQL                  {statistics.median(timed(bare)):6.1f} ms")
    for name, question in QUESTIONS.items():

        def recall(question: str = question) -> None:
            index.ranked(index.candidates(index.branch_of(conversation.pk, conversation.head_id), question), most=8)

        took = timed(recall)
        say(f"recall, {name:17} {statistics.median(took):6.1f} ms, p95 {statistics.quantiles(took, n=20)[-1]:.1f}")
