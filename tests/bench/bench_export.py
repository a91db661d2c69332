"""`make bench ARGS="-k export"`: 10,000 conversations as a ZIP, and one of 100,000 messages, beside a bare `COPY`."""

import time
import zipfile
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.core.cache import cache
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User
from conversations.models import Conversation
from conversations.transfer import downloads, exports, files, making
from conversations.transfer.formats import FORMATS
from tests.bench.bench_replies import say
from tests.conversations.transfer.test_one_conversation import make_long
from tests.factories import make_user

pytestmark = pytest.mark.django_db(transaction=True)

CONVERSATIONS = 10_000
TURNS = 5
"""Of each; two messages a turn."""
LONG = 100_000

FILL = """
    INSERT INTO conversations_conversation
        (id, owner_id, title, title_source, request_key, request_digest, system_prompt, model, created_at,
         last_activity_at, pinned, archived, temporary, summarises)
    SELECT gen_random_uuid(), %(owner)s, 'Conversation ' || n, 'user', n::text, '', '', '', now() + n * interval '1 s',
           now(), false, false, false, true
    FROM generate_series(1, %(conversations)s) AS n;

    CREATE TEMPORARY TABLE asked ON COMMIT DROP AS
        SELECT c.id AS conversation_id, gen_random_uuid() AS turn_id, n,
               nextval('conversations_message_id_seq') AS question, nextval('conversations_message_id_seq') AS answer
        FROM conversations_conversation AS c, generate_series(1, %(turns)s) AS n
        WHERE c.owner_id = %(owner)s ORDER BY c.id, n;

    INSERT INTO conversations_turn
        (id, conversation_id, prompt_id, status, request_key, model, created_at, started_at, finished_at, lease_until,
         error_code, was_cut_off, context)
    SELECT turn_id, conversation_id, question, 'complete', n::text, 'openai:gpt-5', now(), now(), now(), now(), '',
           false, jsonb_build_object('sent', jsonb_build_array(question), 'start', question)
    FROM asked;

    INSERT INTO conversations_message
        (id, conversation_id, turn_id, parent_id, role, content, tokens, tokens_source, created_at)
    SELECT question, conversation_id, turn_id, lag(answer) OVER (PARTITION BY conversation_id ORDER BY n), 'user',
           jsonb_build_array(jsonb_build_object('type', 'text', 'text', repeat('Why is that ' || question || '? ', 8))),
           40, 'estimate', now()
    FROM asked
    UNION ALL
    SELECT answer, conversation_id, turn_id, question, 'assistant',
           jsonb_build_array(jsonb_build_object('type', 'text', 'text',
               'Because of **this**:' || E'\n\n```python\n' || repeat('print(' || answer || ')' || E'\n', 60)
               || '```')),
           250, 'usage', now()
    FROM asked;

    UPDATE conversations_conversation AS c SET head_id = (
        SELECT max(answer) FROM asked WHERE asked.conversation_id = c.id
    ) WHERE owner_id = %(owner)s;
"""

COPY = """
    COPY (
        SELECT m.* FROM conversations_message AS m JOIN conversations_conversation AS c ON c.id = m.conversation_id
        WHERE c.owner_id = %(owner)s ORDER BY m.conversation_id, m.id
    ) TO STDOUT
"""


def filled() -> User:
    person = make_user()
    with connection.cursor() as cursor:
        values = {"owner": person.pk, "conversations": CONVERSATIONS, "turns": TURNS}
        cursor.execute("BEGIN")
        for statement in FILL.split(";\n"):
            if statement.strip():
                cursor.execute(statement, values)
        cursor.execute("COMMIT")
        cursor.execute("ANALYZE conversations_message, conversations_turn, conversations_conversation")
    return person


def copied(person: User) -> tuple[float, int]:
    """Seconds and bytes of what the database itself does."""
    begun, size = time.perf_counter(), 0
    with connection.cursor() as cursor, cursor.copy(COPY, {"owner": person.pk}) as rows:
        for block in rows:
            size += len(block)
    return time.perf_counter() - begun, size


def resident() -> int:
    return int(psutil.Process().memory_info().rss)


def bench_export_of_everything(settings: Settings, tmp_path: Path) -> None:
    settings.PLACES = type(settings.PLACES)(var=tmp_path)
    settings.DEBUG = False
    cache.clear()
    person = filled()
    floor, size = copied(person)
    export = exports.request(person, now=timezone.now())
    before, begun, worked = resident(), time.perf_counter(), time.process_time()
    making.make(export.pk)
    took, worked = time.perf_counter() - begun, time.process_time() - worked
    grown = resident() - before
    export.refresh_from_db()
    path = files.path_of(person.pk, export.pk)
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
    rows = export.total
    say(
        f"{CONVERSATIONS:,} conversations, {rows:,} messages: {took:.1f} s ({worked:.1f} s of the processor), "
        f"{rows / took:,.0f} messages a second"
    )
    unpacked, packed = sum(entry.file_size for entry in entries), path.stat().st_size
    say(f"{unpacked / 2**20:.0f} MiB in {len(entries):,} files, {packed / 2**20:.0f} MiB packed")
    say(f"memory grew by {grown / 2**20:.0f} MiB")
    say(f"bare COPY of the messages, {size / 2**20:.0f} MiB: {floor:.2f} s; {took / floor:.1f} × that")
    assert export.status == "ready"


@pytest.mark.parametrize("name", list(FORMATS))
def bench_export_of_a_long_conversation(settings: Settings, name: str) -> None:
    settings.DEBUG = False
    person = make_user()
    conversation = make_long(person, rows=LONG)
    floor, _ = copied(person)
    before, begun = resident(), time.perf_counter()
    first, written = _written(person, conversation, name, begun)
    took = time.perf_counter() - begun
    say(
        f"one of {LONG:,} messages as {name:8} first word after {first:.2f} s, whole after {took:.1f} s "
        f"({LONG / took:,.0f} messages a second, {took / floor:.1f} × bare COPY), "
        f"{written / 2**20:.0f} MiB; memory grew by {(resident() - before) / 2**20:.0f} MiB"
    )


def _written(person: User, conversation: Conversation, name: str, begun: float) -> tuple[float, Any]:
    first, written = 0.0, 0
    for piece in downloads._pieces(person, conversation.pk, FORMATS[name], timezone.now()):
        first = first or time.perf_counter() - begun
        written += len(piece)
    return first, written
