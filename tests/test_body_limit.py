"""What is too large is refused with the limit, by a real web process, and never kept."""

from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest
from django.conf import settings

from tests.stack import Caller, Stack

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

LIMIT = settings.DATA_UPLOAD_MAX_MEMORY_SIZE


def in_parts(size: int) -> Iterator[bytes]:
    """A body that does not say how long it is."""
    yield b'{"text": "'
    for _ in range(size // 100_000):
        yield b"x" * 100_000
    yield b'"}'


def test_a_program_is_told_the_limit(caller: Caller) -> None:
    conversation = caller.make_conversation()
    answer = caller.ask(conversation, "x" * (LIMIT + 1))
    assert (answer.status_code, answer.json()["code"], answer.json()["limit"]) == (413, "body_too_large", LIMIT)
    assert caller.messages(conversation) == []


def test_a_body_that_hides_its_length_is_counted(caller: Caller) -> None:
    conversation = caller.make_conversation()
    address, kind = f"conversations/{conversation}/turns", {"Content-Type": "application/json"}
    answer = caller.http.post(address, content=in_parts(2 * LIMIT), headers=kind)
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
