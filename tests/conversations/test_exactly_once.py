"""However often, from wherever and through whichever process a question is sent, it is stored and asked once."""

import os
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from django.conf import settings
from django.db import connection
from redis import Redis

from conversations.handing_over import enqueue_answer
from conversations.models import Conversation, Message, Turn
from tests.events import Viewer
from tests.factories import ask, branch_texts, exchange
from tests.provider import Reply
from tests.stack import Caller, Stack, database_url
from tests.threads import at_once

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

MANY = 50
APPENDED = 15
"""Questions of each process that writes into one conversation."""


@pytest.fixture
def webs(stack: Stack) -> list[str]:
    """Three web processes."""
    while len(stack.ports) < 3:
        stack.start_web()
    return [stack.url(number) for number in range(3)]


def posted_at_once(caller: Caller, webs: list[str], conversation: str, keys: list[str]) -> list[httpx.Response]:
    """A question under each of the keys, through one web process after the other."""
    headers = {"Authorization": caller.http.headers["Authorization"]}

    def post(numbered: tuple[int, str]) -> httpx.Response:
        number, key = numbered
        address = f"{webs[number % len(webs)]}/api/v1/conversations/{conversation}/turns"
        return httpx.post(address, json={"text": "Why?"}, headers=headers | {"Idempotency-Key": key}, timeout=60)

    return at_once(post, enumerate(keys))


def test_fifty_posts_of_one_key_are_one_turn_and_one_call(stack: Stack, caller: Caller, webs: list[str]) -> None:
    conversation = caller.make_conversation()
    responses = posted_at_once(caller, webs, conversation, ["once"] * MANY)
    assert Counter(response.status_code for response in responses) == {201: 1, 200: MANY - 1}
    named = {response.json()["id"] for response in responses}
    assert len(named) == 1
    assert caller.wait(named.pop())["status"] == "complete"
    assert (Turn.objects.count(), Message.objects.filter(role="user").count()) == (1, 1)
    assert len(stack.provider.requests) == 1


def test_of_fifty_posts_with_keys_of_their_own_one_runs_and_the_others_name_it(
    stack: Stack, caller: Caller, webs: list[str]
) -> None:
    stack.provider.script(Reply("word " * 100, chunk_chars=5, chunk_delay=0.1))
    conversation = caller.make_conversation()
    responses = posted_at_once(caller, webs, conversation, [f"key {number}" for number in range(MANY)])
    assert Counter(response.status_code for response in responses) == {201: 1, 409: MANY - 1}
    running = next(response.json()["id"] for response in responses if response.status_code == 201)
    refusals = [response.json() for response in responses if response.status_code == 409]
    assert {(refusal["code"], refusal["turn"]) for refusal in refusals} == {("conversation_busy", running)}
    caller.stop(running)
    caller.wait(running)
    assert Message.objects.filter(role="user").count() == 1
    assert len(stack.provider.requests) == 1


def test_fifty_presses_of_stop_end_a_reply_once(stack: Stack, caller: Caller, webs: list[str]) -> None:
    stack.provider.script(Reply("word " * 200, chunk_chars=5, chunk_delay=0.1))
    turn = caller.ask(caller.make_conversation(), "Why?").json()["id"]
    Viewer().watch(caller.http, turn, at_most=4)

    def press(number: int) -> httpx.Response:
        address = f"{webs[number % len(webs)]}/api/v1/turns/{turn}/stop"
        return httpx.post(address, headers={"Authorization": caller.http.headers["Authorization"]}, timeout=60)

    responses = at_once(press, range(MANY))
    assert {response.status_code for response in responses} == {200}
    assert caller.wait(turn)["status"] == "stopped"
    assert len(stack.provider.requests) == 1


def test_a_turn_handed_to_many_workers_is_answered_by_one(stack: Stack, caller: Caller) -> None:
    stack.start_worker("second")
    try:
        stack.provider.script(Reply("word " * 20, chunk_chars=5, chunk_delay=0.05))
        conversation = Conversation.objects.get(pk=caller.make_conversation())
        queued = ask(conversation)
        for _ in range(MANY):
            enqueue_answer(queued.pk)
        assert caller.wait(queued.pk)["status"] == "complete"
        assert len(stack.provider.requests) == 1
        assert Message.objects.filter(role="assistant").count() == 1
    finally:
        stack.stop("second")


def test_viewers_share_one_connection_to_redis(stack: Stack, caller: Caller) -> None:
    # A rule, which goes with the test: a default would stay, and answer those after it for twenty seconds each.
    stack.provider.on("Why?", Reply("word " * 200, chunk_chars=5, chunk_delay=0.1))
    asked = [caller.ask(caller.make_conversation(), "Why?").json()["id"] for _ in range(3)]
    Viewer().watch(caller.http, asked[0], at_most=4)
    before = connections_to_redis()
    watching = threading.Semaphore(0)

    def watch(number: int) -> Viewer:
        with httpx.Client(base_url=caller.http.base_url, headers=caller.http.headers, timeout=60) as http:
            viewer = Viewer().watch(http, asked[number % 3], at_most=4)
            watching.release()
            return viewer.watch(http, asked[number % 3])

    with ThreadPoolExecutor(MANY) as crowd:
        seen = [crowd.submit(watch, number) for number in range(MANY)]
        for _ in range(MANY):
            assert watching.acquire(timeout=30)
        assert connections_to_redis() <= before + 1
        for turn in asked:
            caller.stop(turn)
    for number, turn in enumerate(asked):
        kept = caller.messages(caller.turn(turn)["conversation"])[-1]["text"]
        assert {viewer.result().text for viewer in seen[number::3]} == {kept}


def connections_to_redis() -> int:
    """Those to the database that this test's processes use."""
    with Redis.from_url(settings.REDIS_URL) as redis:
        own = redis.client_info()["db"]
        return sum(client["db"] == str(own) for client in redis.client_list())


def test_what_several_processes_append_at_once_is_all_there_and_in_order(conversation: Conversation) -> None:
    writers = [subprocess.Popen(appender(conversation, name), env=environment()) for name in "abcd"]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0, 0, 0]
    texts = branch_texts(conversation)
    assert Counter(texts[::2]) == Counter(f"{name}{number}" for name in "abcd" for number in range(APPENDED))
    assert texts[1::2] == [f"Answer to {question}" for question in texts[::2]]
    for name in "abcd":
        own = [text for text in texts[::2] if text.startswith(name)]
        assert own == sorted(own, key=lambda text: int(text[1:]))
    ids = list(Message.objects.branch(conversation.head_id, rows=10_000))
    assert [message.pk for message in ids] == sorted(message.pk for message in ids)


def test_an_append_after_a_deletion_collides_with_nothing(conversation: Conversation) -> None:
    first = exchange(conversation, "One")
    second = exchange(conversation, "Two")
    gone = set(Message.objects.filter(turn=second).values_list("pk", flat=True))
    Conversation.objects.filter(pk=conversation.pk).update(head=Message.objects.filter(turn=first).last())
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM conversations_turn WHERE id = %s", [second.pk])
    third = exchange(conversation, "Three")
    new = set(Message.objects.filter(turn=third).values_list("pk", flat=True))
    assert min(new) > max(gone)
    assert branch_texts(conversation) == ["One", "Because.", "Three", "Because."]


def appender(conversation: Conversation, name: str) -> list[str]:
    return [sys.executable, "-m", "tests.conversations.appending", str(conversation.pk), name, str(APPENDED)]


def environment() -> dict[str, str]:
    return {**os.environ, "DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "pocketchat.settings"}
