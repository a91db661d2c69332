"""`make bench ARGS="-k erase"`: how fast many conversations are erased, beside a bare DELETE of as many rows, and what
people who chat meanwhile notice of it.

`POCKETCHAT_BENCH_MESSAGES` is how many messages are erased; 200,000 when it is not given.
"""

import os
import resource
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from uuid import UUID

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import User
from conversations.models import Conversation, Erasure, Message
from conversations.retention.erase import erase_conversations
from tests.bench.bench_replies import say
from tests.factories import make_user
from tests.provider import Reply
from tests.stack import Caller, Stack
from tests.threads import with_own_connection

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

MESSAGES = int(os.environ.get("POCKETCHAT_BENCH_MESSAGES", "200000"))
OF_A_CONVERSATION = 100
HANDED_OVER = 1000
"""Conversations a purge names at once."""
LEAST_SHARE = 0.6
MOST_SLOWER = 1.5
CALM_SECONDS = 10.0

FILL = """
    WITH made AS (
        INSERT INTO conversations_conversation (id, owner_id, title, title_source, request_key, request_digest,
            system_prompt, model, created_at, last_activity_at, pinned, archived, temporary, kept, summarises)
        SELECT gen_random_uuid(), %(owner)s, '', 'none', gen_random_uuid()::text, '', '', '', now(), now(),
            false, false, false, false, true
        FROM generate_series(1, %(conversations)s) RETURNING id
    ), turns AS (
        INSERT INTO conversations_turn (id, conversation_id, prompt_id, status, request_key, model, created_at,
            finished_at, lease_until, error_code, was_cut_off)
        SELECT gen_random_uuid(), made.id, nextval('conversations_message_id_seq'), 'complete',
            gen_random_uuid()::text, 'openai:scripted', now(), now(), now(), '', false
        FROM made, generate_series(1, %(turns)s) RETURNING id, conversation_id, prompt_id
    )
    INSERT INTO conversations_message (id, conversation_id, turn_id, parent_id, role, content, tokens, tokens_source,
        created_at)
    SELECT prompt_id, conversation_id, id,
        lag(prompt_id) OVER (PARTITION BY conversation_id ORDER BY prompt_id), 'user',
        jsonb_build_array(jsonb_build_object('type', 'text', 'text', repeat('Why is it so? ', 8))), 30, 'estimate',
        now()
    FROM turns
"""
ANSWER = """
    INSERT INTO conversations_message (conversation_id, turn_id, parent_id, role, content, tokens, tokens_source,
        created_at)
    SELECT conversation_id, id, prompt_id, 'assistant',
        jsonb_build_array(jsonb_build_object('type', 'text', 'text', repeat('Because it is. ', 30))), 100, 'estimate',
        now()
    FROM conversations_turn t WHERE NOT EXISTS (
        SELECT 1 FROM conversations_message m WHERE m.turn_id = t.id AND m.role = 'assistant'
    )
"""


def filled(owner: User, messages: int) -> list[UUID]:
    """Conversations with so many messages altogether."""
    values = {
        "owner": owner.pk,
        "conversations": messages // OF_A_CONVERSATION,
        "turns": OF_A_CONVERSATION // 2,
    }
    with connection.cursor() as cursor:
        cursor.execute(FILL, values)
        cursor.execute(ANSWER)
    vacuumed()
    return list(Conversation.objects.filter(owner=owner).values_list("pk", flat=True))


def vacuumed() -> None:
    with connection.cursor() as cursor:
        for table in ("conversation", "message", "turn"):
            cursor.execute(f"VACUUM ANALYZE conversations_{table}")


def bare(ids: list[UUID]) -> float:
    """Seconds of a DELETE and nothing else."""
    began = time.monotonic()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM conversations_conversation WHERE id = ANY(%s)", [ids])
    return time.monotonic() - began


def by_the_road(ids: list[UUID]) -> float:
    began = time.monotonic()
    for start in range(0, len(ids), HANDED_OVER):
        part = ids[start : start + HANDED_OVER]
        erase_conversations(part, reason=Erasure.Reason.RULE, by=None, now=timezone.now())
    return time.monotonic() - began


@contextmanager
def chatting(caller: Caller) -> Iterator[list[float]]:
    """Somebody reads and asks, over and over; the seconds of each request, as they come."""
    conversation, took, done = caller.make_conversation(), list[float](), Event()
    caller.wait(caller.ask(conversation, "Why?").json()["id"])

    def chat() -> None:
        while not done.is_set():
            for method, path in (
                ("GET", f"conversations/{conversation}/messages"),
                ("GET", "conversations"),
                ("POST", "conversations"),
            ):
                began = time.monotonic()
                assert caller.http.request(method, path, json={}).is_success
                took.append(time.monotonic() - began)
            time.sleep(0.02)

    with ThreadPoolExecutor(1) as other:
        chats = other.submit(chat)
        try:
            yield took
        finally:
            done.set()
            chats.result()


def p95(took: list[float]) -> float:
    return statistics.quantiles(took, n=20)[-1] * 1000


def bench_erase_many_while_people_chat(stack: Stack, caller: Caller) -> None:
    stack.provider.default = Reply("Because.")
    plain, ids = filled(make_user(), MESSAGES), filled(make_user(), MESSAGES)
    with chatting(caller), ThreadPoolExecutor(1) as other:
        floor = MESSAGES / other.submit(with_own_connection(bare), plain).result()
    say(f"bare DELETE of {MESSAGES:,} messages, while somebody chats: {floor:,.0f} a second")
    vacuumed()
    with chatting(caller) as calm:
        time.sleep(CALM_SECONDS)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with chatting(caller) as busy, ThreadPoolExecutor(1) as other:
        seconds = other.submit(with_own_connection(by_the_road), ids).result()
    rate, grown = MESSAGES / seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    say(f"by the road: {rate:,.0f} a second, {rate / floor:.0%} of it, {grown / 1024:.0f} MB more")
    slower = p95(busy) / p95(calm)
    say(f"requests, p95: {p95(calm):.0f} ms before, {p95(busy):.0f} ms during, {slower:.2f} times as long")
    assert not Message.objects.filter(conversation__in=ids).exists()
    one = filled(make_user(), OF_A_CONVERSATION)
    say(f"one conversation of {OF_A_CONVERSATION} messages: {by_the_road(one) * 1000:.0f} ms")
    assert rate / floor >= LEAST_SHARE
    assert slower <= MOST_SLOWER
