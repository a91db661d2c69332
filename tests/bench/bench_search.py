"""`make bench ARGS="-k search"`: one search of 10,000 conversations, beside the bare SQL that asks the index for the
word; the first page of a list as long; a question that is asked among them."""

import statistics
from collections.abc import Callable
from functools import partial
from itertools import islice
from uuid import uuid4

import pytest
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts.models import User
from conversations import searching
from conversations.access import bin_of, conversations_of
from conversations.listing import BIN, page_of
from conversations.models import Conversation, Message
from conversations.recall.lexemes import lexemes, sought
from tests.bench.bench_context import timed
from tests.bench.bench_recall_speed import size_of, texts, told
from tests.bench.bench_replies import say
from tests.factories import ask, exchange, make_conversation, make_user

pytestmark = pytest.mark.django_db

CONVERSATIONS = 10_000
PAIRS = 10
"""Of messages in each."""
WORDS = (40, 160)
"""Of a question, and of an answer."""
BATCH = 2000

COPY = """
    INSERT INTO conversations_conversation (id, owner_id, title, title_source, request_key, request_digest,
        system_prompt, model, created_at, last_activity_at, pinned, archived, temporary, summarises)
    SELECT gen_random_uuid(), %s, initcap(split_part(said, ' ', 3) || ' ' || split_part(said, ' ', 4) || ' and '
           || split_part(said, ' ', 8)), 'model', gen_random_uuid(), '', '', '', now() - n * interval '1 hour',
           now() - n * interval '1 hour', false, n %% 7 = 0, false, true
    FROM unnest(%s::text[]) WITH ORDINALITY AS made (said, n)
"""
SAY = """
    INSERT INTO conversations_message (conversation_id, turn_id, role, content, tokens, tokens_source, created_at)
    SELECT %s, %s, CASE n %% 2 WHEN 1 THEN 'user' ELSE 'assistant' END,
           jsonb_build_array(jsonb_build_object('type', 'text', 'text', said)), 50, 'estimate',
           %s::timestamptz + n * interval '1 minute'
    FROM unnest(%s::text[]) WITH ORDINALITY AS made (said, n)
"""
BARE = """
    SELECT message_id FROM conversations_searchentry WHERE words @@ %s::tsquery
    ORDER BY said_at DESC, message_id DESC LIMIT 21
"""
QUERIES = {
    "in most": "the",
    "two common": "value object",
    "rare": "metaclass derived",
    "in the oldest alone": "commonlongago",
    "nowhere": "zyzzyva",
    "common, nowhere": "the zyzzyva",
    "beginning of one": "th",
    "Chinese, nowhere": "数据库的计划",
}


@pytest.fixture
def talker(settings: Settings) -> User:
    """Somebody who has said much: the constraints of their rows are not checked, nor their index kept while they are
    written."""
    settings.DEBUG = False
    user = make_user()
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX search_entry_words")
        cursor.execute("SET session_replication_role = replica")
        _say_much(cursor, user)
        cursor.execute("SET session_replication_role = origin")
        cursor.execute(
            "CREATE INDEX search_entry_words ON conversations_searchentry USING gin (words) WITH (fastupdate = off)"
        )
        for table in ("conversation", "message", "searchentry"):
            cursor.execute(f"ANALYZE conversations_{table}")
    return user


def _say_much(cursor: CursorWrapper, user: User) -> None:
    short, long = texts(WORDS[0]), texts(WORDS[1])
    cursor.execute(COPY, [user.pk, list(islice(texts(10), CONVERSATIONS))])
    made = Conversation.objects.filter(owner=user).order_by("last_activity_at").values_list("pk", "last_activity_at")
    for number, (pk, moment) in enumerate(made):
        said = [next(short if place % 2 == 0 else long) for place in range(2 * PAIRS)]
        if number < CONVERSATIONS // 2:
            said = [f"{text} commonlongago" for text in said]
        cursor.execute(SAY, [pk, uuid4(), moment, said])
    last = 0
    while rows := list(Message.objects.filter(pk__gt=last).order_by("pk")[:BATCH]):
        searching.write(rows)
        last = rows[-1].pk


def bench_search(talker: User) -> None:
    visible = conversations_of(talker)
    said, size = Message.objects.count(), size_of("conversations_searchentry")
    say(f"{CONVERSATIONS:,} conversations, {said:,} messages; entries: {size}")
    for name, query in QUERIES.items():
        looked_for = sought(query)
        search = partial(searching.search, visible, looked_for, owner_id=talker.pk, limit=20)
        with CaptureQueriesContext(connection) as queries:
            hits = len(search().hits)
        took, floor = timed(search), timed(partial(_bare, searching._tsquery(looked_for, talker.pk)))
        ratio = statistics.median(took) / statistics.median(floor)
        say(f"{name:22} {told(took)}, {len(queries)} queries, {hits} hits; bare SQL {told(floor)}, ratio {ratio:.2f}")
    say(f"titles alone           {told(timed(partial(searching.titled, visible, sought('zyzzyva'))))}")
    _bench_lists(talker)
    _bench_asking(talker)


def _bare(query: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(BARE, [query])
        cursor.fetchall()


def _bench_lists(talker: User) -> None:
    """The first page of each list is as fast as of ten conversations."""
    lists: dict[str, Callable[[], object]] = {
        "list": lambda: page_of(conversations_of(talker).filter(archived=False), limit=50),
        "archive": lambda: page_of(conversations_of(talker).filter(archived=True), limit=50),
        "bin": lambda: page_of(bin_of(talker), limit=50, order=BIN),
    }
    for name, first_page in lists.items():
        say(f"first page, {name:10} {told(timed(first_page))}")


def _bench_asking(talker: User) -> None:
    conversation = make_conversation(talker)
    exchange(conversation)
    words = texts(WORDS[0])

    def asked() -> None:
        turn = ask(conversation, next(words))
        turn.status, turn.finished_at = "stopped", turn.created_at
        turn.save(update_fields=["status", "finished_at"])

    took = timed(asked)
    one = Message.objects.filter(role="assistant", conversation__owner=talker)[:1]
    say(f"asking among them      {told(took)}; indexing an answer {told(timed(lambda: searching.write(one)))}")
    say(f"lexemes of an answer   {told(timed(lambda: lexemes(one[0].text)))}")
