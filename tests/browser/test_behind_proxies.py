"""Words arrive as they are made behind proxies that buffer by default, one and two of them."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser

from accounts.models import User
from tests.browser.conftest import Visit
from tests.events import parsed
from tests.nginx import running_nginx
from tests.provider import Reply
from tests.stack import Caller, Stack

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

WORDS = 20
STEADY = Reply("word " * WORDS, chunk_chars=5, chunk_delay=0.15)
"""Three seconds."""


BUFFER = 8192
"""Bytes that nginx gathers of a response by default, at most."""


@contextmanager
def proxies(stack: Stack, folder: Path, number: int) -> Iterator[str]:
    """The address of the outermost."""
    with ExitStack() as running:
        address = stack.url()
        for each in range(number):
            address = running.enter_context(running_nginx(folder / f"nginx{each}", address))
        yield address


@pytest.fixture(params=[1, 2], ids=["one nginx", "two nginx"])
def number(request: pytest.FixtureRequest) -> int:
    chosen: int = request.param
    return chosen


def arrivals(http: httpx.Client, address: str) -> list[float]:
    """When each delta and the end came."""
    with http.stream("GET", address, headers={"Accept-Encoding": "gzip"}) as response:
        return [time.monotonic() for event, _, _ in parsed(response.iter_lines()) if event != "hello"]


def test_words_arrive_as_they_are_made(stack: Stack, caller: Caller, tmp_path: Path, number: int) -> None:
    """The first proxy is told not to buffer, and keeps that to itself: behind it another one needs padding."""
    stack.provider.script(STEADY)
    turn = caller.ask(caller.make_conversation(), "Why?").json()["id"]
    padding = BUFFER if number > 1 else 0
    with (
        proxies(stack, tmp_path, number) as address,
        httpx.Client(base_url=f"{address}/api/v1/", headers=caller.http.headers, timeout=30) as http,
    ):
        came = arrivals(http, f"turns/{turn}/events?padding={padding}")
    made = stack.provider.requests[0].delta_times
    assert len(came) > WORDS / 2
    # The first word is there long before the last one is made, and the end comes with the end.
    assert came[0] < made[0] + 1
    assert came[-1] < made[-1] + 1
    assert max(later - sooner for sooner, later in pairwise(came)) < 1


def test_a_page_finds_out_by_itself_that_its_events_are_kept_back(
    stack: Stack, browser: Browser, tmp_path: Path, person: User, number: int
) -> None:
    stack.provider.script(Reply("word " * 60, chunk_chars=5, chunk_delay=0.15))
    with proxies(stack, tmp_path, number) as address, closing(browser.new_context()) as context:
        visit = Visit(context, address)
        page = visit.log_in(person)
        visit.ask("Why?")
        page.get_by_text("word word word").wait_for(timeout=5000)
        assert len(stack.provider.requests[0].delta_times) < 50
        page.get_by_role("button", name="Stop").click()
        page.get_by_text("You stopped this reply.").wait_for()
        assert visit.faults == []


@pytest.mark.parametrize("asked", ["-1", "x", "", "9" * 5000, "\u0661"])
def test_a_senseless_padding_harms_nobody(caller: Caller, asked: str) -> None:
    turn = caller.ask(caller.make_conversation(), "Why?").json()["id"]
    with caller.http.stream("GET", f"turns/{turn}/events", params={"padding": asked}) as response:
        assert response.status_code == 200
        assert len(response.read()) < 300_000


def test_a_reply_is_stopped_through_proxies(stack: Stack, caller: Caller, tmp_path: Path, number: int) -> None:
    stack.provider.script(Reply("word " * 200, chunk_chars=5, chunk_delay=0.1))
    with (
        proxies(stack, tmp_path, number) as address,
        httpx.Client(base_url=f"{address}/api/v1/", headers=caller.http.headers, timeout=30) as http,
    ):
        conversation = http.post("conversations", json={}).json()["id"]
        turn = http.post(f"conversations/{conversation}/turns", json={"text": "Why?"}).json()["id"]
        stack.provider.wait_for_requests(1)
        assert http.post(f"turns/{turn}/stop").status_code == 200
    assert caller.wait(turn)["status"] == "stopped"
