"""What is too large is refused with the limit, by a real web process, and never kept."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest
from django.conf import settings

from pocketchat.gatekeeper import Gatekeeper, Message, Scope, Uploads
from tests.stack import Caller, Stack

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

LIMIT = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
API_LIMIT = settings.POCKETCHAT_API_BODY_BYTES


def in_parts(size: int) -> Iterator[bytes]:
    """A body that does not say how long it is."""
    yield b'{"text": "'
    for _ in range(size // 100_000):
        yield b"x" * 100_000
    yield b'"}'


def test_a_program_is_told_the_limit(caller: Caller) -> None:
    conversation = caller.make_conversation()
    answer = caller.ask(conversation, "x" * API_LIMIT)
    assert (answer.status_code, answer.json()["code"], answer.json()["limit"]) == (413, "body_too_large", API_LIMIT)
    assert caller.messages(conversation) == []


def test_a_body_that_hides_its_length_is_counted(caller: Caller) -> None:
    conversation = caller.make_conversation()
    address, kind = f"conversations/{conversation}/turns", {"Content-Type": "application/json"}
    answer = caller.http.post(address, content=in_parts(2 * API_LIMIT), headers=kind)
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    assert caller.http.post(address, content=in_parts(1_000_000), headers=kind).json()["code"] == "prompt_too_long"


@pytest.mark.parametrize("parts", [(LIMIT + 1,), (LIMIT, 1), (LIMIT - 1, 1, 1)])
def test_a_body_just_over_the_limit_is_answered(stack: Stack, parts: tuple[int, ...]) -> None:
    assert httpx.post(stack.url(), content=(b"x" * size for size in parts), timeout=20).status_code == 413


def test_a_person_is_told_in_a_sentence(stack: Stack) -> None:
    answer = httpx.post(stack.url(), content=b"x" * (LIMIT + 1))
    assert (answer.status_code, answer.headers["content-type"]) == (413, "text/plain; charset=utf-8")
    assert f"{LIMIT:,} bytes" in answer.text


def test_whoever_never_stops_sending_is_cut_off(stack: Stack) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while sent < 100 * LIMIT:
            sent += 1_000_000
            yield b"x" * 1_000_000

    with suppress(httpx.TransportError):  # Or it reads the answer first.
        assert httpx.post(stack.url(), content=endless(), timeout=60).status_code == 413
    assert sent < 20 * LIMIT


@pytest.mark.parametrize("kind", ["text/plain; charset*=nonsense''utf-8", "multipart/form-data; foo*=nonsense''x"])
@pytest.mark.parametrize("path", ["/accounts/login/", "/api/v1/conversations"])
def test_a_content_type_that_cannot_be_read_is_refused_in_our_words(stack: Stack, kind: str, path: str) -> None:
    answer = httpx.post(stack.url() + path, content=b"x", headers={"Content-Type": kind})
    assert (answer.status_code, "Content-Type header" in answer.text) == (400, True)


def test_a_cookie_with_a_nul_is_no_session(stack: Stack) -> None:
    headers = {"Cookie": 'sessionid="abcdefgh\\000ijkl"'}
    assert httpx.get(stack.url(), headers=headers).status_code == 302
    assert httpx.get(f"{stack.url()}/api/v1/conversations", headers=headers).status_code == 401


@pytest.mark.parametrize("query", ["version=%00", "version=%0d%0aX-Evil:1"])
def test_a_version_of_the_schema_that_is_none_harms_nobody(stack: Stack, query: str) -> None:
    answer = httpx.get(f"{stack.url()}/api/v1/schema/?{query}")
    assert answer.status_code in (200, 400)
    assert "x-evil" not in answer.headers


PAGE, ADDRESS = "/data/imports/", "/api/v1/imports"


def test_only_the_address_of_files_takes_large_ones(caller: Caller) -> None:
    sent = b"[" + b" " * (LIMIT + 1) + b"]"
    taken = caller.http.post("imports?dry_run=true", content=sent, headers={"Content-Type": "application/json"})
    assert (taken.status_code, taken.json()["size"]) == (202, len(sent))
    for address in ("conversations", "imports/", f"imports/{taken.json()['id']}"):
        refused = caller.http.post(address, content=sent, headers={"Content-Type": "application/json"})
        assert (refused.status_code, refused.json()["code"]) == (413, "body_too_large"), address


def test_a_file_from_nobody_is_not_even_taken_in(stack: Stack) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(400):
            sent += 1_000_000
            yield b"x" * 1_000_000

    for address, headers in (
        (ADDRESS, {}),
        (ADDRESS, {"Authorization": "Token nonsense"}),
        (PAGE, {"Cookie": "sessionid=nonsense"}),
    ):
        sent = 0
        with suppress(httpx.TransportError):  # Or it reads the answer first.
            told = {**headers, "Content-Length": "400000000"}
            answer = httpx.post(stack.url() + address, content=endless(), headers=told, timeout=60)
            assert answer.status_code == 401
            assert "Log in before you send a file." in answer.text
        assert sent < 100_000_000


def test_a_file_says_how_long_it_is(caller: Caller) -> None:
    answer = caller.http.post("imports", content=in_parts(1_000_000), headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (411, "length_required")


def test_a_file_that_is_too_large_is_refused_by_its_length() -> None:
    """One of 500 MB would take its time: the same gate, with a smaller one."""
    said: list[Any] = []

    async def nothing(*_: Any) -> None:
        said.append("let in")

    async def anybody(_: Scope) -> bool:
        return True

    async def receive() -> Message:
        return {"type": "http.request", "body": b"x" * 101, "more_body": False}

    async def send(message: Message) -> None:
        said.append(message)

    gate = Gatekeeper(nothing, limit=5, api_limit=5, uploads=Uploads((ADDRESS,), 100, anybody))
    for length, method in ((100, "POST"), (101, "POST"), (6, "PUT")):
        headers = [(b"content-length", str(length).encode())]
        asyncio.run(gate({"type": "http", "path": ADDRESS, "method": method, "headers": headers}, receive, send))
    assert said[0] == "let in"
    assert [one["status"] for one in said[1:] if "status" in one] == [413, 413]
    assert "100 bytes" in str(said[2])
