"""One conversation as a file, over HTTP: its owner's alone, streamed, of one moment, with a safe name."""

import asyncio
import json
import os
import threading
import time
import tracemalloc
from base64 import b64encode
from collections.abc import Generator, Iterator
from urllib.parse import unquote

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from accounts.models import User
from conversations.models import Conversation, Message
from conversations.transfer import downloads
from conversations.transfer.formats import FORMATS
from conversations.transfer.streaming import sent_while_made
from tests.conversations.transfer.rich import make_rich
from tests.conversations.transfer.sent import beginning_of, body_of
from tests.factories import exchange, make_conversation, make_user

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def rich(owner: User) -> Conversation:
    return make_rich(owner)


@pytest.fixture(autouse=True)
def _not_asked_before() -> None:
    cache.clear()


def address(conversation: Conversation, name: str) -> str:
    return reverse("conversations:export_conversation", args=[conversation.pk, name])


def api_address(conversation: Conversation) -> str:
    return reverse("conversations:api:export_conversation", args=[conversation.pk])


@pytest.mark.parametrize("name", list(FORMATS))
def test_an_owner_takes_it_away_in_every_format(page: Client, api: APIClient, rich: Conversation, name: str) -> None:
    for response in (page.get(address(rich, name)), api.get(api_address(rich), {"format": name})):
        assert response.status_code == 200
        assert response["Content-Type"] == FORMATS[name].content_type
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response["Content-Disposition"] == f'attachment; filename="Bread & b bees b.{FORMATS[name].ending}"'
        assert "no-store" in response["Cache-Control"]
        assert b"What is good bread?" in body_of(response)


def test_json_is_what_the_api_gives_when_nothing_is_said(api: APIClient, rich: Conversation) -> None:
    document = json.loads(body_of(api.get(api_address(rich))))
    assert document["format"] == "pocketchat-conversation"
    assert len(document["messages"]) == Message.objects.filter(conversation=rich).count()


def test_an_unknown_format_is_refused_by_name(page: Client, api: APIClient, rich: Conversation) -> None:
    assert page.get(address(rich, "docx")).status_code == 404
    response = api.get(api_address(rich), {"format": "docx"})
    assert response.status_code == 400
    assert response.json()["code"] == "invalid"
    assert "docx" in response.json()["detail"]


def test_a_stranger_finds_nothing(stranger: User, client: Client, rich: Conversation) -> None:
    client.force_login(stranger)
    program = APIClient()
    program.force_authenticate(stranger)
    assert client.get(address(rich, "json")).status_code == 404
    assert program.get(api_address(rich)).status_code == 404
    assert Client().get(address(rich, "json")).status_code == 302
    assert APIClient().get(api_address(rich)).status_code == 401


def test_what_is_in_the_bin_is_not_exported(page: Client, api: APIClient, rich: Conversation) -> None:
    Conversation.objects.filter(pk=rich.pk).update(trashed_at=rich.created_at)
    assert page.get(address(rich, "json")).status_code == 404
    assert api.get(api_address(rich)).status_code == 404


def test_nor_what_is_put_there_before_the_first_byte(page: Client, rich: Conversation) -> None:
    response = page.get(address(rich, "json"))
    Conversation.objects.filter(pk=rich.pk).update(trashed_at=rich.created_at)
    with pytest.raises(Exception, match="does not exist"):
        body_of(response)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("خبز وماء", "خبز وماء.json"),
        ("面包和水", "面包和水.json"),
        ("🍞👩‍👩‍👧", "🍞👩‍👩‍👧.json"),
        ("../../etc/passwd", "etc passwd.json"),
        ('"; filename="evil.exe', "; filename= evil.exe.json"),
        ("a\r\nSet-Cookie: x=1", "a Set-Cookie x=1.json"),
    ],
)
def test_files_bear_titles_of_any_script(page: Client, owner: User, title: str, name: str) -> None:
    conversation = make_conversation(owner, title=title, title_source="user")
    header = page.get(address(conversation, "json"))["Content-Disposition"]
    told = unquote(header.partition("filename*=utf-8''")[2]) or header.partition('filename="')[2].removesuffix('"')
    assert told == name


def test_it_is_of_the_moment_at_which_it_was_begun(owner: User) -> None:
    conversation = make_conversation(owner)
    exchange(conversation, "Before")
    begun, go_on = threading.Event(), threading.Event()

    def pieces() -> Iterator[str]:
        for piece in downloads._pieces(owner, conversation.pk, FORMATS["json"], conversation.created_at):
            yield piece
            begun.set()
            go_on.wait(10)

    written: list[str] = []
    reader = threading.Thread(target=lambda: written.extend(_with_connection(pieces())))
    reader.start()
    assert begun.wait(10)
    exchange(conversation, "Meanwhile")
    go_on.set()
    reader.join()
    document = json.loads("".join(written))
    assert len(document["messages"]) == 2
    assert len(document["turns"]) == 1


def _with_connection(pieces: Iterator[str]) -> list[str]:
    try:
        return list(pieces)
    finally:
        connection.close()


def test_a_reader_who_leaves_stops_the_writer() -> None:
    most, written = 10_000, 0

    def pieces() -> Generator[str, None, None]:
        nonlocal written
        for written in range(most):
            time.sleep(0.001 if written > 200 else 0)
            yield "x" * 1000

    class Answer:
        streaming_content = sent_while_made(pieces)

    assert beginning_of(Answer()).startswith(b"xxx")
    assert written < most - 1


def test_a_slow_reader_holds_neither_the_writer_nor_its_transaction() -> None:
    ended = threading.Event()

    def pieces() -> Generator[str, None, None]:
        for n in range(100):
            yield f"{n:05d}" * 10_000
        ended.set()

    async def read_slowly() -> bytes:
        chunks = sent_while_made(pieces)
        first = await anext(chunks)
        assert await asyncio.to_thread(ended.wait, 10)
        return first + b"".join([chunk async for chunk in chunks])

    assert asyncio.run(read_slowly()).decode() == "".join(f"{n:05d}" * 10_000 for n in range(100))


def test_a_fault_in_the_middle_breaks_the_answer_off() -> None:
    def pieces() -> Generator[str, None, None]:
        yield "x" * 100_000
        raise LookupError

    class Answer:
        streaming_content = sent_while_made(pieces)

    with pytest.raises(LookupError):
        body_of(Answer())


def test_files_are_refused_when_they_are_asked_for_too_often(
    page: Client, api: APIClient, rich: Conversation, stranger: User
) -> None:
    for _ in range(downloads.MOST_FILES):
        assert page.get(address(rich, "text")).status_code == 200
    refused = page.get(address(rich, "text"))
    assert refused.status_code == 429
    assert "30 conversations can be exported a minute" in refused.content.decode()
    response = api.get(api_address(rich))
    assert (response.status_code, response.json()["code"]) == (429, "too_many_files")
    theirs = make_conversation(stranger)
    program = APIClient()
    program.force_authenticate(stranger)
    assert program.get(api_address(theirs)).status_code == 200


MANY_SQL = """
    INSERT INTO conversations_message
        (conversation_id, turn_id, parent_id, role, content, tokens, tokens_source, created_at)
    SELECT %(conversation)s, %(turn)s, NULL, 'assistant',
           jsonb_build_array(jsonb_build_object('type', 'text', 'text', repeat(md5(n::text), 60))), 1, 'estimate', now()
    FROM generate_series(1, %(rows)s) AS n
"""
CHAIN_SQL = """
    UPDATE conversations_message AS m SET parent_id = before.parent
    FROM (
        SELECT id, lag(id) OVER (ORDER BY id) AS parent
        FROM conversations_message WHERE conversation_id = %(conversation)s
    ) AS before
    WHERE before.id = m.id AND before.parent IS NOT NULL
"""


def make_long(owner: User, *, rows: int) -> Conversation:
    """One branch of so many messages of 2 kB."""
    conversation = make_conversation(owner)
    turn = exchange(conversation)
    with connection.cursor() as cursor:
        values: dict[str, str | int] = {"conversation": str(conversation.pk), "turn": str(turn.pk), "rows": rows}
        cursor.execute(MANY_SQL, values)
        cursor.execute(CHAIN_SQL, values)
    newest = Message.objects.filter(conversation=conversation).latest("id")
    Conversation.objects.filter(pk=conversation.pk).update(head=newest)
    conversation.refresh_from_db()
    return conversation


@pytest.mark.parametrize("name", ["json", "text"])
def test_memory_does_not_grow_with_what_was_said(name: str) -> None:
    person = make_user()
    conversation = make_long(person, rows=20_000)
    tracemalloc.start()
    try:
        size = 0
        for piece in downloads._pieces(person, conversation.pk, FORMATS[name], conversation.created_at):
            size += len(piece)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size > 38_000_000
    assert peak < 12_000_000


def test_nor_with_pictures(owner: User) -> None:
    conversation = make_conversation(owner)
    for _ in range(40):
        turn = exchange(conversation)
        picture = {"type": "image", "media_type": "image/png", "data": b64encode(os.urandom(750_000)).decode()}
        Message.objects.filter(pk=turn.prompt_id).update(content=[picture])
    tracemalloc.start()
    try:
        for _ in downloads._pieces(owner, conversation.pk, FORMATS["json"], conversation.created_at):
            pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 25_000_000
