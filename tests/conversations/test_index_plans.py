"""What recall asks of the tables is answered by their indexes, in an installation of realistic size."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from conversations import index, meaning, recollections
from conversations.models import Conversation, Embedding, Message
from conversations.models.embedding import VERSION
from conversations.providers.registry import embedder
from tests.factories import exchange, make_conversation

pytestmark = pytest.mark.django_db

OTHERS, MESSAGES = 40, 1000
"""Conversations beside the one that is looked at, and messages of each."""

CONTENT = json.dumps([{"type": "text", "text": "word " * 150}])

READS_ALL = re.compile("Seq Scan on conversations_(message|embedding)")

GROW = """
    INSERT INTO conversations_message
        (id, conversation_id, turn_id, parent_id, role, content, tokens, tokens_source, created_at)
    SELECT %(head)s + n, %(conversation)s, %(turn)s, %(head)s + n - 1, 'user', %(content)s, 1, 'estimate', now()
    FROM generate_series(1, %(messages)s) AS n
"""

NEXT = "SELECT setval(pg_get_serial_sequence('conversations_message', 'id'), max(id)) FROM conversations_message"

INDEX = """
    INSERT INTO conversations_embedding
        (message_id, conversation_id, embedder, vector, language, words, version, created_at)
    SELECT id, conversation_id, %s, %s, 'english', to_tsvector('english', 'bread and ' || id), %s, now()
    FROM conversations_message m WHERE NOT EXISTS (SELECT FROM conversations_embedding WHERE message_id = m.id)
"""


@pytest.fixture
def among_many(conversation: Conversation, owner: User) -> Conversation:
    """A conversation of an installation with many long ones, all of them in the index."""
    vector = str(meaning.of_question(conversation.pk, "Bread?"))
    with connection.cursor() as cursor:
        for one in [conversation, *(make_conversation(owner) for _ in range(OTHERS))]:
            turn = exchange(one)
            head = turn.messages.latest("pk").pk
            facts: dict[str, Any] = {
                "head": head,
                "conversation": one.pk,
                "turn": turn.pk,
                "messages": MESSAGES,
                "content": CONTENT,
            }
            cursor.execute(GROW, facts)
            cursor.execute(NEXT)
            Conversation.objects.filter(pk=one.pk).update(head=head + MESSAGES)
        cursor.execute(INDEX, [embedder().name, vector, VERSION])
        cursor.execute("ANALYZE conversations_conversation, conversations_turn")
        cursor.execute("ANALYZE conversations_message, conversations_embedding")
    conversation.refresh_from_db()
    return conversation


def plans_of(queries: CaptureQueriesContext) -> Iterator[str]:
    """Of what was read of messages and the index."""
    for query in queries.captured_queries:
        is_read = query["sql"].lstrip().startswith(("SELECT", "WITH"))
        if is_read and ("conversations_embedding" in query["sql"] or "conversations_message" in query["sql"]):
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN {query['sql']}")
                yield "\n".join(line for (line,) in cursor.fetchall())


def test_a_recall_reads_no_table_from_end_to_end(among_many: Conversation) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert recollections.recall(among_many, "Where is the bread?", k=4)
    plans = list(plans_of(queries))
    assert len(plans) == 4  # The branch, the words as they are stemmed, the matches, the turns.
    assert not list(filter(READS_ALL.search, plans))
    assert "embedding_of_conversation" in plans[1]
    assert "embedding_of_conversation" in plans[2]


def test_what_a_conversation_lacks_is_sought_in_it_alone(among_many: Conversation) -> None:
    Embedding.objects.filter(conversation=among_many).delete()
    with CaptureQueriesContext(connection) as queries:
        index.write(index.unindexed(among_many.pk)[: index.BATCH])
    assert not list(filter(READS_ALL.search, plans_of(queries)))


def test_what_an_older_version_wrote_is_found_without_reading_the_rest(among_many: Conversation) -> None:
    assert not index.outdated().exists()
    assert "embedding_of_older_version" in index.outdated().values("conversation").explain()
    assert Message.objects.count() > OTHERS * MESSAGES
