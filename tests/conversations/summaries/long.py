"""A conversation of as many messages as one likes, written by the database itself."""

from django.db import connection

from conversations.models import Conversation, Message

TURNS_SQL = """
    INSERT INTO conversations_turn (id, conversation_id, prompt_id, status, request_key, model, created_at, started_at,
        finished_at, lease_until, error_code, was_cut_off)
    SELECT md5(%(conversation)s || n)::uuid, %(conversation)s::uuid, %(first)s + 2 * n, 'complete', 'grown ' || n,
        'openai:scripted', at, at, at, at, '', false
    FROM generate_series(0, %(messages)s / 2 - 1) n,
        LATERAL (SELECT now() - interval '1 year' + n * interval '1 second') moment(at)
"""
MESSAGES_SQL = """
    INSERT INTO conversations_message (id, conversation_id, turn_id, parent_id, role, content, tokens, tokens_source,
        created_at)
    SELECT %(first)s + n, %(conversation)s::uuid, md5(%(conversation)s || n / 2)::uuid,
        CASE WHEN n > 0 THEN %(first)s + n - 1 END, CASE n %% 2 WHEN 0 THEN 'user' ELSE 'assistant' END,
        '[{"type": "text", "text": "Bees, and so on."}]', 10, 'estimate', now() - interval '1 year'
    FROM generate_series(0, %(messages)s - 1) n
"""


def grow(conversation: Conversation, messages: int) -> None:
    """An empty one, to so many messages in turns of two."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence('conversations_message', 'id'))")
        first = cursor.fetchone()[0]
        facts = {"conversation": str(conversation.pk), "first": first, "messages": messages}
        cursor.execute(TURNS_SQL, facts)
        cursor.execute(MESSAGES_SQL, facts)
        cursor.execute(
            "SELECT setval(pg_get_serial_sequence('conversations_message', 'id'), max(id)) FROM conversations_message"
        )
        for table in ("message", "turn"):
            cursor.execute(f"ANALYZE conversations_{table}")
    conversation.head = Message.objects.latest("pk")
    conversation.save(update_fields=["head"])
