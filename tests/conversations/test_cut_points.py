"""Wherever a connection breaks, in the middle of an event, of a line, of a character: nothing is missed or repeated."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import httpx
import pytest
from django.conf import settings
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from redis import Redis

from conversations.streams import stream_key
from tests.events import Viewer, parsed
from tests.provider import Reply
from tests.stack import Caller, Stack

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

TEXT = "🐝 日本語 ünïcode «עברית» e\u0301 👩\u200d🚀\n" * 8
ENOUGH = 200
"""Connections; a viewer who gets on with each of them is done long before."""

cuts = st.lists(st.integers(1, 1500), min_size=1, max_size=30)
"""After how many bytes each connection breaks; the last figure holds for all that follow."""


@dataclass
class Line:
    """A connection that breaks."""

    webs: list[str]
    headers: dict[str, str]

    def received(self, turn: str, last_id: str, *, number: int, cut: int) -> list[str]:
        """The lines of the whole events among the first bytes: to a browser one counts once its blank line is there."""
        headers = self.headers | ({"Last-Event-ID": last_id} if last_id else {})
        address = f"{self.webs[number % len(self.webs)]}/api/v1/turns/{turn}/events"
        got = b""
        with httpx.stream("GET", address, headers=headers, timeout=30) as response:
            for chunk in response.iter_raw():
                got += chunk
                if len(got) >= cut:
                    break
        got = got[:cut]
        whole = got[: got.rfind(b"\n\n") + 2] if b"\n\n" in got else b""
        return whole.decode().split("\n")


@pytest.fixture
def line(stack: Stack, caller: Caller) -> Line:
    while len(stack.ports) < 2:
        stack.start_web()
    headers = {"Authorization": caller.http.headers["Authorization"]}
    return Line([stack.url(number) for number in range(2)], headers)


def watched(line: Line, turn: str, cuts: list[int]) -> Viewer:
    """One who comes back, to another web process each time, until the end has come."""
    viewer = Viewer()
    for number in range(ENOUGH):
        # One event may be longer than a cut: a line that never carries one would never get on.
        cut = cuts[min(number, len(cuts) - 1)] + 60 * number
        for event, data, event_id in parsed(iter(line.received(turn, viewer.last_id, number=number, cut=cut))):
            if event != "hello":
                viewer.take(event, data, event_id)
        if viewer.status:
            return viewer
    raise AssertionError("it never came to the end")


def seen_whole(line: Line, turn_of: Callable[[], str], *, examples: int = 25) -> None:
    """Whoever watches the turn over such connections has the whole text in the end, wherever they break."""

    @hypothesis_settings(
        max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(cuts)
    def breaks(cuts: list[int]) -> None:
        viewer = watched(line, turn_of(), cuts)
        assert (viewer.text, viewer.status) == (TEXT, "complete")

    breaks()


def test_wherever_the_connection_breaks_a_finished_reply_is_seen_whole(
    stack: Stack, caller: Caller, line: Line
) -> None:
    stack.provider.script(Reply(TEXT, chunk_chars=3, chunk_delay=0.01, chunk_bytes=1))
    turn = caller.ask(caller.make_conversation(), "Why?").json()["id"]
    caller.wait(turn)
    seen_whole(line, lambda: turn)


def test_wherever_the_connection_breaks_a_reply_is_seen_whole_while_it_is_written(
    stack: Stack, caller: Caller, line: Line
) -> None:
    def newly_asked() -> str:
        stack.provider.script(Reply(TEXT, chunk_chars=3, chunk_delay=0.01, chunk_bytes=1))
        turn: str = caller.ask(caller.make_conversation(), "Why?").json()["id"]
        return turn

    seen_whole(line, newly_asked, examples=6)


def test_after_the_life_of_its_events_the_stored_reply_is_seen_wherever_the_connection_breaks(
    stack: Stack, caller: Caller, line: Line
) -> None:
    stack.provider.script(Reply(TEXT))
    turn = caller.ask(caller.make_conversation(), "Why?").json()["id"]
    seen = Viewer().watch(caller.http, turn, at_most=1)
    caller.wait(turn)
    with Redis.from_url(settings.REDIS_URL) as redis:
        time.sleep(0.2)
        assert redis.delete(stream_key(turn)) == 1
    seen_whole(line, lambda: turn)
    assert seen.watch(caller.http, turn).text == TEXT
