"""Whoever was in the middle of writing when a conversation was erased finds it gone, and brings nothing of it back."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.db import IntegrityError, connection
from django.http import Http404
from django.utils import timezone
from redis import Redis

from conversations import asking, branches, index, meaning, summaries, tracing, turns
from conversations.models import Conversation, Embedding, Erasure, Message, ModelCall, Summary, Turn
from conversations.providers.registry import embedder
from conversations.retention import finishing, looks
from conversations.retention.erase import erase_conversations
from conversations.streams import LAST_ID, Publisher, Shown, Wire, announce_end, seal, stream_key
from conversations.titles import naming
from pocketchat.embedded.process import wait_until
from tests.conversations.test_replies import asked, begun
from tests.events import Viewer
from tests.factories import ask, exchange, make_summary
from tests.provider import Reply
from tests.stack import Caller, Stack
from tests.threads import with_own_connection

pytestmark = pytest.mark.django_db(transaction=True)

LATE = [{"type": "text", "text": "late"}]
GONE = (Http404, IntegrityError)


def saves_a_partial(turn: Turn) -> object:
    return turns.save_partial(turn, LATE)


def finishes(turn: Turn) -> object:
    return turns.finish(turn, turns.Outcome(Turn.Status.COMPLETE, LATE))


def is_swept(turn: Turn) -> object:
    now = timezone.now() + timedelta(hours=1)
    return turns.end_for_worker(turn, Turn.Status.INTERRUPTED, seen=Shown("late"), now=now, abandoned_at=now)


def keeps_what_was_seen(turn: Turn) -> object:
    turns.keep_seen(turn, Shown("late"))
    return None


def is_stopped(turn: Turn) -> object:
    return turns.request_stop(turn)


def is_claimed(turn: Turn) -> object:
    return turns.claim(turn.pk, lease=timedelta(seconds=9))


def is_renewed(turn: Turn) -> object:
    return turns.renew([turn.pk], lease=timedelta(seconds=9))


def asks_on(turn: Turn) -> object:
    return asking.ask(turn.conversation_id, text="late", request_key="late", parent_id=None, model="m", is_branch=True)


def edits(turn: Turn) -> object:
    return branches.edit(turn.prompt, text="late", request_key="late", model="m")


def is_named(turn: Turn) -> object:
    return naming.give(Conversation(pk=turn.conversation_id, title="", title_source="none"), "late")


def corrects_the_summary(turn: Turn) -> object:
    through = Message.objects.filter(conversation=turn.conversation_id, role="assistant").latest("pk").pk
    return summaries.correct(turn.conversation, "late", through=through)


def is_traced(turn: Turn) -> object:
    call = tracing.call_of(turn.conversation_id, ModelCall.Purpose.TITLE, "a:b", end=None, latency_ms=1, outcome="ok")
    tracing.keep(call)
    return None


def is_indexed(turn: Turn) -> object:
    return index.write(index.unindexed(turn.conversation_id))


WRITERS = [
    saves_a_partial,
    finishes,
    is_swept,
    keeps_what_was_seen,
    is_stopped,
    is_claimed,
    is_renewed,
    asks_on,
    edits,
    is_named,
    corrects_the_summary,
    is_traced,
    is_indexed,
]


def rows_left() -> list[type[Any]]:
    return [model for model in (Conversation, Message, Turn, Summary, ModelCall, Embedding) if model.objects.exists()]


def erase(conversation_id: UUID) -> None:
    erase_conversations([conversation_id], reason=Erasure.Reason.OWNER, by=None, now=timezone.now())


def erase_while(write: Callable[[], object], conversation_id: UUID) -> "Future[object]":
    """Erase, and have somebody else begin to write when the rows are held and not yet gone."""
    writing: list[Future[object]] = []
    other = ThreadPoolExecutor(1)

    def meet(execute: Any, sql: str, *args: Any) -> Any:
        if not writing and sql.startswith("DELETE"):
            writing.append(other.submit(with_own_connection(write)))
            time.sleep(0.3)
        return execute(sql, *args)

    with connection.execute_wrapper(meet):
        erase(conversation_id)
    other.shutdown(wait=True)
    return writing[0]


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_a_writer_who_comes_while_it_is_erased_brings_nothing_back(
    conversation: Conversation, write: Callable[[Turn], object]
) -> None:
    make_summary(exchange(conversation))
    live = ask(conversation)
    if write is not is_claimed:
        turns.claim(live.pk, lease=timedelta(seconds=9))
    if write is is_indexed:
        meaning.of_texts(conversation.pk, ["Loads the embedder."], model=embedder())
    fault = erase_while(lambda: write(live), conversation.pk).exception()
    assert fault is None or isinstance(fault, GONE), fault
    assert rows_left() == []
    assert Erasure.objects.count() == 1


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_a_writer_who_comes_after_it_brings_nothing_back(
    conversation: Conversation, write: Callable[[Turn], object]
) -> None:
    make_summary(exchange(conversation))
    live = ask(conversation)
    turns.claim(live.pk, lease=timedelta(seconds=9))
    erase(conversation.pk)
    try:
        write(live)
    except (*GONE, Message.DoesNotExist):
        pass
    assert rows_left() == []


def test_an_index_that_is_being_written_makes_it_try_again(conversation: Conversation) -> None:
    """The writer holds messages and waits for the conversation; we hold that and wait for the messages."""
    exchange(conversation)
    holds, hold_on = ThreadPoolExecutor(1), []

    def write() -> None:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute(
                "SELECT 1 FROM conversations_message WHERE conversation_id = %s FOR KEY SHARE", [conversation.pk]
            )
            hold_on.append(True)
            time.sleep(0.3)
            cursor.execute("SELECT 1 FROM conversations_conversation WHERE id = %s FOR KEY SHARE", [conversation.pk])
            cursor.execute("ROLLBACK")

    writing = holds.submit(with_own_connection(write))
    assert wait_until(lambda: bool(hold_on), seconds=5)
    erase(conversation.pk)
    writing.exception(timeout=10)
    assert rows_left() == []


def keys_of(turn_id: UUID) -> list[bytes]:
    with Redis.from_url(settings.REDIS_URL) as redis:
        entries: Any = redis.xrange(stream_key(turn_id))
        return [entry_id for entry_id, _ in entries]


@pytest.mark.parametrize("has_begun", [True, False])
def test_a_reply_that_is_still_written_adds_nothing_to_a_sealed_stream(
    has_begun: bool, caplog: pytest.LogCaptureFixture
) -> None:
    turn = uuid4()

    async def write() -> None:
        wire = Wire()
        publisher = Publisher(wire, turn)
        if has_begun:
            publisher.push("before ")
            await asyncio.sleep(0.1)
        await asyncio.to_thread(seal, [turn])
        for _ in range(10):
            publisher.push("late ")
            await asyncio.sleep(0.03)
        await publisher.close("complete")
        await wire._redis.aclose()

    asyncio.run(write())
    announce_end(turn, "interrupted")
    assert keys_of(turn) == [LAST_ID.encode()]
    assert str(turn) not in caplog.text
    with Redis.from_url(settings.REDIS_URL) as redis:
        assert 0 < redis.ttl(stream_key(turn)) <= 3600
        redis.delete(stream_key(turn))


@pytest.mark.stack
def test_a_live_reply_is_stopped_and_its_worker_writes_nothing_more(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("".join(f"secret{n} " for n in range(400)), chunk_chars=7, chunk_delay=0.02))
    conversation, turn = asked(caller, "A secret question")
    begun(caller, turn)
    with ThreadPoolExecutor(1) as other:
        watching = other.submit(Viewer().watch, caller.http, turn)
        time.sleep(0.3)
        erase(UUID(conversation))
        (request,) = stack.provider.requests
        assert wait_until(lambda: request.ended_by == "client", seconds=2), "the provider's connection is still open"
        assert watching.result(timeout=5).status == "gone"
    time.sleep(1)
    assert rows_left() == []
    assert keys_of(UUID(turn)) == [LAST_ID.encode()]
    assert caller.http.get(f"conversations/{conversation}").status_code == 404
    finishing.finish(now=timezone.now())
    finishing.finish(now=timezone.now() + 2 * looks.SECOND_LOOK)
    receipt = Erasure.objects.get()
    assert receipt.is_verified
    assert receipt.next_look_at is None
    assert "secret" not in stack.output("worker") + stack.output("web0")
