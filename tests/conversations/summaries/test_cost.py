"""Whether a summary is due is asked behind every reply: what it reads does not grow with the conversation."""

import pytest
from django.db import connection
from pytest_django import Settings

from conversations import summaries
from conversations.models import Conversation, Turn
from tests.conversations.summaries.living import lived
from tests.conversations.summaries.long import grow
from tests.conversations.summaries.test_progress import attempt
from tests.factories import make_summary

pytestmark = pytest.mark.django_db

MESSAGES = 20_000
READ_SQL = """
    SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables
    WHERE relname LIKE 'conversations_%'
"""
"""Rows that this transaction has read so far."""


def rows_read() -> int:
    with connection.cursor() as cursor:
        cursor.execute(READ_SQL)
        return int(cursor.fetchone()[0])


@pytest.mark.parametrize("policy", ["tokens", "pairs"])
def test_it_reads_a_window_and_not_a_conversation(conversation: Conversation, settings: Settings, policy: str) -> None:
    settings.POCKETCHAT_CHAT_MODEL = "openai:scripted"
    settings.POCKETCHAT_HISTORY_TOKENS = 200
    settings.POCKETCHAT_RECALL = False
    settings.POCKETCHAT_CONTEXT_POLICY = policy
    grow(conversation, MESSAGES)
    make_summary(Turn.objects.order_by("created_at")[2])
    lived(conversation, 3)
    for outcome in ("too_long", "too_long", "gave_way"):
        attempt(conversation, outcome)
    lived(conversation, 2)
    before = rows_read()
    assert summaries.is_due(conversation.pk)
    assert rows_read() - before < 300
