"""What is killed, restarted or hangs in mid-reply costs nobody a question, and no turn its truthful end."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx
import pytest
from redis import Redis

from tests.events import Viewer
from tests.factories import PASSWORD
from tests.product import Product
from tests.provider import Reply, Silence
from tests.stack import Caller

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("faults")]

LONG = "".join(f"word{number} " for number in range(200))
SLOW = Reply(LONG, chunk_chars=7, chunk_delay=0.03)
"""About six seconds."""
ENDS_WITHIN = 30.0
"""Seconds: the longest a turn may stay live whatever happened to it."""


def begun(product: Product, person: Caller, reply: Reply = SLOW) -> tuple[str, str, Viewer]:
    """A conversation whose reply has begun to show: its id, the turn's, and a viewer who has seen some of it."""
    product.provider.forget()
    product.provider.script(reply)
    conversation = person.make_conversation()
    turn = person.ask(conversation, "Why?").json()["id"]
    return conversation, turn, Viewer().watch(person.http, turn, at_most=12)


def patiently_watched(person: Caller, turn: str, viewer: Viewer) -> Viewer:
    """As a browser does: it comes back whenever it was cut off."""
    deadline = time.monotonic() + ENDS_WITHIN
    while not viewer.status and time.monotonic() < deadline:
        with suppress(httpx.TransportError, AssertionError):
            viewer.watch(person.http, turn)
        time.sleep(0.2)
    return viewer


def all_is_kept(product: Product, person: Caller, conversation: str, viewer: Viewer) -> None:
    """The question and what was seen of its reply are kept, and nobody asked the provider twice."""
    question, answer = person.messages(conversation)
    assert question["text"] == "Why?"
    assert LONG.startswith(answer["text"])
    assert answer["text"].startswith(viewer.text)
    assert len(product.provider.requests) == 1


def goes_on(product: Product, person: Caller, conversation: str) -> None:
    """The next question is answered, behind everything before."""
    product.provider.script(Reply("And so it went on."))
    turn = person.ask(conversation, "And then?", parent=person.head(conversation))
    assert turn.status_code == 201, turn.text
    assert person.wait(turn.json()["id"])["status"] == "complete"
    assert person.messages(conversation)[-1]["text"] == "And so it went on."


def test_the_worker_is_killed(product: Product, person: Caller) -> None:
    conversation, turn, viewer = begun(product, person)
    time.sleep(1.5)
    product.kill("replies")
    patiently_watched(person, turn, viewer)
    assert person.turn(turn)["status"] == viewer.status == "interrupted"
    all_is_kept(product, person, conversation, viewer)
    goes_on(product, person, conversation)


@pytest.mark.parametrize("victim", ["web", "valkey"])
def test_what_the_reply_can_do_without_is_killed(product: Product, person: Caller, victim: str) -> None:
    conversation, turn, viewer = begun(product, person)
    product.kill(victim)
    patiently_watched(person, turn, viewer)
    assert (viewer.status, viewer.text) == ("complete", LONG)
    assert person.messages(conversation)[-1]["text"] == LONG
    assert len(product.provider.requests) == 1
    goes_on(product, person, conversation)


def test_postgresql_is_killed(product: Product, person: Caller) -> None:
    conversation, turn, viewer = begun(product, person)
    product.kill("postgres")
    patiently_watched(person, turn, viewer)
    assert person.wait(turn, seconds=ENDS_WITHIN)["status"] in ("complete", "interrupted")
    all_is_kept(product, person, conversation, viewer)
    goes_on(product, person, conversation)


def test_postgresql_is_away_when_the_reply_ends(product: Product, person: Caller) -> None:
    conversation, turn, _ = begun(product, person, Reply("word " * 60, chunk_delay=0.02))
    with product.hanging("postgres"):
        time.sleep(2)
        product.kill("postgres")
    # Which of the two depends on whether the lease outlived the hang; the words are all there either way.
    assert person.wait(turn, seconds=ENDS_WITHIN)["status"] in ("complete", "interrupted")
    assert person.messages(conversation)[-1]["text"] == "word " * 60


def test_a_grown_pool_does_not_fail_a_single_request_after_postgresql_was_restarted(
    product: Product, person: Caller
) -> None:
    def listed(_: int) -> int:
        return person.http.get("conversations").status_code

    with ThreadPoolExecutor(30) as crowd:
        assert set(crowd.map(listed, range(120))) == {200}
    product.kill("postgres")
    began = time.monotonic()
    assert [listed(number) for number in range(12)] == [200] * 12
    assert time.monotonic() - began < 6


def test_a_question_is_taken_while_valkey_hangs_and_answered_afterwards(product: Product, person: Caller) -> None:
    product.provider.forget()
    product.provider.script(Reply("At last."))
    conversation = person.make_conversation()
    began = time.monotonic()
    with product.hanging("valkey"):
        asked = person.ask(conversation, "Why?")
        took = time.monotonic() - began
        assert asked.status_code == 201
        assert person.stop("00000000-0000-0000-0000-000000000000").status_code == 404
    assert took < 3
    assert person.wait(asked.json()["id"], seconds=ENDS_WITHIN)["status"] == "complete"
    assert len(product.provider.requests) == 1


def test_a_question_is_taken_while_valkey_refuses_to_write(product: Product, person: Caller) -> None:
    """As it does while another one takes its place: it says that it is there, and keeps whoever writes waiting."""
    conversation = person.make_conversation()
    with Redis(unix_socket_path=str(product.places.valkey_socket)) as valkey:
        valkey.execute_command("CLIENT", "PAUSE", "5000", "WRITE")
    began = time.monotonic()
    asked = person.ask(conversation, "Why?")
    assert (asked.status_code, time.monotonic() - began < 3) == (201, True)
    assert person.wait(asked.json()["id"], seconds=ENDS_WITHIN)["status"] == "complete"


def test_a_viewer_of_an_ended_reply_is_told_so_while_valkey_hangs(product: Product, person: Caller) -> None:
    product.provider.script(Reply("Because."))
    turn = person.ask(person.make_conversation(), "Why?").json()["id"]
    person.wait(turn)
    with product.hanging("valkey"):
        began = time.monotonic()
        viewer = Viewer().watch(person.http, turn)
        assert (viewer.status, viewer.text) == ("complete", "Because.")
        assert time.monotonic() - began < 4


def test_people_log_in_while_valkey_hangs(product: Product, person: Caller) -> None:  # she has an account
    with product.hanging("valkey"), product.browser() as browser:
        began = time.monotonic()
        response = product.post(browser, "/accounts/login/", login="person@example.org", password=PASSWORD)
        assert (response.status_code, response.headers["location"]) == (302, "/")
        assert time.monotonic() - began < 5


def test_a_provider_that_hangs_in_mid_reply_is_given_up_and_its_words_are_kept(
    product: Product, person: Caller
) -> None:
    conversation, turn, _ = begun(product, person, Reply(LONG, chunk_chars=7, fault=Silence(after=30)))
    ended = person.wait(turn, seconds=ENDS_WITHIN)
    assert (ended["status"], ended["error_code"]) == ("failed", "timed_out")
    assert person.messages(conversation)[-1]["text"] == LONG[: 30 * 7]
    goes_on(product, person, conversation)
