"""A reply through the whole product: real processes, a provider that speaks real HTTP."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx
import psutil
import pytest
from django.conf import settings
from django.db import connection, connections, transaction
from django.utils import timezone
from redis import Redis

from conversations import asking, tasks
from conversations.models import Conversation, Message, ModelCall, Turn
from conversations.streams import stream_key
from pocketchat import celery_app
from pocketchat.embedded.process import wait_until
from tests.events import Viewer, parsed
from tests.factories import make_user
from tests.provider import Failure, HangUp, Reply, Silence, Usage
from tests.refusing import refusing
from tests.stack import Caller, Stack

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

LONG = "".join(f"word{number} " for number in range(120))
SLOW = Reply(LONG, chunk_chars=7, chunk_delay=0.03)
"""About four seconds, or three with luck."""
VIEWERS = 50


def asked(caller: Caller, text: str = "Why?") -> tuple[str, str]:
    conversation = caller.make_conversation()
    response = caller.ask(conversation, text)
    assert response.status_code == 201, response.text
    return conversation, response.json()["id"]


def begun(caller: Caller, turn: str, *, words: int = 3) -> Viewer:
    """A viewer that has seen the first words, and left."""
    return Viewer().watch(caller.http, turn, at_most=words)


def test_a_question_is_answered_streamed_and_stored(stack: Stack, caller: Caller) -> None:
    stack.provider.script(
        Reply("Because **it is**. 日本 🐝", chunk_chars=2, usage=Usage(input_tokens=30, output_tokens=9))
    )
    conversation, turn = asked(caller)
    viewer = Viewer().watch(caller.http, turn)
    assert (viewer.text, viewer.status) == ("Because **it is**. 日本 🐝", "complete")
    stored = caller.turn(turn)
    assert (stored["status"], stored["input_tokens"], stored["output_tokens"]) == ("complete", 30, 9)
    assert [(message["role"], message["text"]) for message in caller.messages(conversation)] == [
        ("user", "Why?"),
        ("assistant", "Because **it is**. 日本 🐝"),
    ]
    call = ModelCall.objects.get()
    assert (call.purpose, call.outcome, call.output_tokens) == ("reply", "ok", 9)


def test_the_model_sees_the_earlier_turns_and_the_record_names_them(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("Because."), Reply("So."))
    conversation, first = asked(caller)
    caller.wait(first)
    second = caller.ask(conversation, "And?", parent=caller.head(conversation)).json()["id"]
    caller.wait(second)
    sent = [message["content"] for message in stack.provider.requests[1].body["messages"]]
    assert sent == [settings.POCKETCHAT_SYSTEM_PROMPT, "Why?", "Because.", "And?"]
    record = caller.http.get(f"turns/{second}/context").json()
    assert record["sent"] == [message["id"] for message in caller.messages(conversation)][:3]


def test_a_viewer_who_comes_late_sees_it_from_the_first_word(stack: Stack, caller: Caller) -> None:
    stack.provider.script(SLOW)
    _, turn = asked(caller)
    begun(caller, turn, words=20)
    viewer = Viewer().watch(caller.http, turn)
    assert viewer.text == LONG


def test_a_viewer_who_comes_after_the_end_gets_the_end_at_once(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("Because."))
    _, turn = asked(caller)
    caller.wait(turn)
    began = time.monotonic()
    assert Viewer().watch(caller.http, turn).text == "Because."
    assert time.monotonic() - began < 2


def test_when_the_events_are_gone_the_stored_reply_is_served(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("Because."))
    _, turn = asked(caller)
    seen = Viewer().watch(caller.http, turn)
    with Redis.from_url(settings.REDIS_URL) as redis:
        redis.flushdb()
    assert (seen.watch(caller.http, turn).text, seen.status) == ("Because.", "complete")


@pytest.mark.parametrize("cut", [1, 2, 5, 17])
def test_a_viewer_who_loses_the_connection_again_and_again_misses_and_repeats_nothing(
    stack: Stack, caller: Caller, cut: int
) -> None:
    text = "🐝 日本 ünïcode " * 12
    stack.provider.script(Reply(text, chunk_chars=1, chunk_delay=0.005, chunk_bytes=1))
    _, turn = asked(caller)
    viewer = Viewer()
    while not viewer.status:
        viewer.watch(caller.http, turn, at_most=cut)
    assert viewer.text == text


def test_many_viewers_see_the_same(stack: Stack, caller: Caller) -> None:
    stack.provider.script(SLOW)
    _, turn = asked(caller)
    with ThreadPoolExecutor(12) as pool:
        viewers = list(pool.map(lambda _: Viewer().watch(caller.http, turn), range(12)))
    assert {viewer.text for viewer in viewers} == {LONG}


def test_many_replies_that_begin_together_all_come_to_their_end(stack: Stack, caller: Caller) -> None:
    stack.provider.on("together", Reply("So it is.", chunk_chars=2, chunk_delay=0.02))

    def whole(number: int) -> str:
        with Caller.of(stack, make_user(f"caller{number}@example.org")) as one:
            _, turn = asked(one, "together")
            viewer = Viewer().watch(one.http, turn)
            connections.close_all()
            return f"{viewer.status}: {viewer.text}"

    with ThreadPoolExecutor(40) as pool:
        assert set(pool.map(whole, range(80))) == {"complete: So it is."}


def test_a_stranger_cannot_watch_read_or_stop(stack: Stack, caller: Caller) -> None:
    stack.provider.script(SLOW)
    conversation, turn = asked(caller)
    with Caller.of(stack, make_user()) as stranger:
        for response in (
            stranger.http.get(f"turns/{turn}/events"),
            stranger.http.get(f"turns/{turn}"),
            stranger.http.get(f"turns/{turn}/context"),
            stranger.stop(turn),
            stranger.http.post(f"turns/{turn}/regenerate"),
            stranger.ask(conversation, "Mine?"),
            stranger.http.get(f"conversations/{conversation}/messages"),
        ):
            assert response.status_code == 404
            assert response.json()["code"] == "not_found"
        nobody = httpx.get(f"{stack.url()}/api/v1/turns/{turn}/events")
        assert nobody.status_code == 401
    assert caller.wait(turn)["status"] == "complete"


def test_stop_closes_the_providers_connection_and_keeps_what_was_seen(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("word " * 2000, chunk_delay=0.02), Reply("Next."))
    conversation, turn = asked(caller)
    seen = begun(caller, turn, words=5)
    began = time.monotonic()
    assert caller.stop(turn).status_code == 200
    assert stack.provider.requests[0].wait_until_ended(5) == "client"
    assert time.monotonic() - began < 1
    seen.watch(caller.http, turn)
    assert seen.status == "stopped"
    assert caller.messages(conversation)[-1]["text"].strip() == seen.text.strip()
    again = caller.ask(conversation, "Go on", parent=caller.head(conversation))
    assert caller.wait(again.json()["id"])["status"] == "complete"


def test_stop_works_before_the_first_word(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("late", first_delay=60))
    conversation, turn = asked(caller)
    stack.provider.wait_for_requests(1)
    began = time.monotonic()
    caller.stop(turn)
    assert stack.provider.requests[0].wait_until_ended(5) == "client"
    assert time.monotonic() - began < 1
    assert caller.wait(turn)["status"] == "stopped"
    assert [message["role"] for message in caller.messages(conversation)] == ["user"]


def test_stopping_twice_or_after_the_end_is_harmless(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("Because."))
    _, turn = asked(caller)
    caller.wait(turn)
    assert [caller.stop(turn).json()["status"] for _ in range(2)] == ["complete", "complete"]


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Failure("authentication"), "bad_key"),
        (Failure("rate_limit"), "rate_limited"),
        (Failure("model_not_found"), "unknown_model"),
        (Failure("server"), "provider_down"),
        (HangUp(after=3), "dropped"),
    ],
)
def test_a_providers_fault_fails_the_turn_and_it_can_be_tried_again(
    stack: Stack, caller: Caller, fault: Failure | HangUp, code: str
) -> None:
    stack.provider.script(Reply(LONG, fault=fault), Reply("Because."))
    conversation, turn = asked(caller)
    failed = caller.wait(turn)
    assert (failed["status"], failed["error_code"]) == ("failed", code)
    assert failed["error"].endswith(".")
    assert caller.messages(conversation)[0]["text"] == "Why?"
    again = caller.http.post(f"turns/{turn}/regenerate")
    assert again.status_code == 201
    assert caller.wait(again.json()["id"])["status"] == "complete"
    assert [message["text"] for message in caller.messages(conversation)] == ["Why?", "Because."]


def test_the_key_shows_nowhere(stack: Stack, caller: Caller) -> None:
    key = stack.environment["POCKETCHAT_CHAT_API_KEY"]
    stack.provider.script(Reply("", fault=Failure("authentication", message=f"Incorrect API key: {key}")))
    _, turn = asked(caller)
    failed = caller.wait(turn)
    assert key not in str(failed)
    assert key not in stack.output("worker")
    assert key not in stack.output("web0")


def test_no_log_holds_what_was_said(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("the secret answer"), Reply("", fault=Failure("bad_request", message="a secret told")))
    conversation, turn = asked(caller, "a secret question")
    caller.wait(turn)
    caller.wait(caller.ask(conversation, "a secret more", parent=caller.head(conversation)).json()["id"])
    assert "secret" not in stack.output("worker").replace("sk-secret", "")
    assert "secret" not in stack.output("web0")


def test_a_silent_provider_is_given_up_and_the_words_so_far_are_kept(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("one two three four", chunk_chars=4, fault=Silence(after=3)))
    conversation, turn = asked(caller)
    assert caller.wait(turn)["error_code"] == "timed_out"
    assert caller.messages(conversation)[-1]["text"] == "one two thre"


def test_a_killed_worker_leaves_the_words_so_far_and_the_conversation_goes_on(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("word " * 2000, chunk_delay=0.02), Reply("Next."))
    conversation, turn = asked(caller)
    viewer = Viewer().watch(caller.http, turn, at_most=60)
    stack.kill("worker")
    stack.start_worker()
    time.sleep(4.2)  # The lease of the killed worker.
    tasks.sweep()
    ended = caller.wait(turn)
    assert ended["status"] == "interrupted"
    kept = caller.messages(conversation)[-1]["text"]
    assert kept
    assert kept.startswith(viewer.text)  # Nothing that was seen is lost, saved already or not.
    viewer.watch(caller.http, turn)
    assert (viewer.text, viewer.status) == (kept, "interrupted")
    follow_up = caller.ask(conversation, "Go on", parent=caller.head(conversation))
    assert caller.wait(follow_up.json()["id"])["status"] == "complete"
    assert len(stack.provider.requests) == 2


def test_a_worker_that_is_asked_to_stop_ends_its_replies_itself(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("word " * 2000, chunk_delay=0.02))
    conversation, turn = asked(caller)
    seen = begun(caller, turn, words=30)
    began = time.monotonic()
    stack.stop("worker")
    assert time.monotonic() - began < 6
    assert caller.turn(turn)["status"] == "interrupted"
    assert caller.messages(conversation)[-1]["text"].startswith(seen.text.strip())
    stack.start_worker()


def test_when_redis_is_emptied_in_mid_reply_nothing_is_lost(stack: Stack, caller: Caller) -> None:
    stack.provider.script(SLOW)
    conversation, turn = asked(caller)
    viewer = begun(caller, turn, words=20)
    with Redis.from_url(settings.REDIS_URL) as redis:
        redis.flushdb()
    late = Viewer().watch(caller.http, turn)
    viewer.watch(caller.http, turn)
    assert late.text == viewer.text == LONG
    assert caller.messages(conversation)[-1]["text"] == LONG


def test_a_reply_outlives_the_web_process_that_asked_for_it(stack: Stack, caller: Caller) -> None:
    stack.provider.script(SLOW)
    _, turn = asked(caller)
    viewer = begun(caller, turn, words=10)
    stack.kill("web0")
    stack.restart_web()
    assert (viewer.watch(caller.http, turn).text, viewer.status) == (LONG, "complete")


def test_a_conversation_deleted_in_mid_reply_ends_the_run_and_nothing_comes_back(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("word " * 2000, chunk_delay=0.02))
    conversation, turn = asked(caller)
    begun(caller, turn, words=10)
    Conversation.objects.filter(pk=conversation).delete()
    assert stack.provider.requests[0].wait_until_ended(5) == "client"
    time.sleep(1.5)
    assert not Message.objects.exists()
    assert not Turn.objects.exists()
    assert caller.ask(conversation, "Still there?").status_code == 404


def test_a_task_that_was_lost_is_queued_again_and_answered(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("Because."))
    owner = Conversation.objects.get(pk=caller.make_conversation()).owner
    lost = asking.start(owner, text="Why?", request_key="lost", model="openai:scripted").turn
    Turn.objects.filter(pk=lost.pk).update(created_at=timezone.now() - timedelta(minutes=1))
    tasks.sweep()
    assert caller.wait(lost.pk)["status"] == "complete"


def test_every_task_of_the_schedule_exists() -> None:
    scheduled = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert "conversations.sweep" in scheduled
    assert scheduled <= set(celery_app.tasks)


def test_what_no_database_takes_is_mended_on_its_way_from_the_provider(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply(deltas=("a\x00b", "\ud83d", "\udc1d", "\ud800", "c")))
    conversation, turn = asked(caller)
    assert caller.wait(turn)["status"] == "complete"
    assert caller.messages(conversation)[-1]["text"] == "ab🐝\ufffdc"


@pytest.mark.parametrize(
    "resume",
    ["99999999999999999999999-0", "18446744073709551615-0", "x", "1", "-1-1", "1-1-1", "१-१", "9" * 5000 + "-0"],
)
def test_a_senseless_resume_point_harms_nobody(stack: Stack, caller: Caller, resume: str) -> None:
    stack.provider.script(SLOW, Reply("Because."))
    _, turn = asked(caller)
    with (
        ThreadPoolExecutor(1) as elsewhere,
        caller.http.stream("GET", f"turns/{turn}/events", headers=[(b"Last-Event-ID", resume.encode())]) as evil,
    ):
        assert evil.status_code == 200
        watching = elsewhere.submit(lambda: Viewer().watch(caller.http, turn))
        assert watching.result().text == LONG


def test_a_viewer_who_reads_slowly_misses_nothing_when_another_joins(stack: Stack, caller: Caller) -> None:
    stack.provider.script(SLOW)
    _, turn = asked(caller)
    first = Viewer()
    with caller.http.stream("GET", f"turns/{turn}/events") as response:
        events = parsed(response.iter_lines())
        first.take(*next(events))
        time.sleep(1)
        other = Viewer().watch(caller.http, turn)
        for event in events:
            first.take(*event)
            if first.status:
                break
    assert first.text == other.text == LONG


def test_a_reply_that_fails_before_its_first_word_leaves_no_empty_answer(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("", usage=Usage(input_tokens=3, output_tokens=0)))
    conversation, turn = asked(caller)
    assert caller.wait(turn)["error_code"] == "empty_reply"
    assert [message["role"] for message in caller.messages(conversation)] == ["user"]


def test_a_stream_that_vanished_before_the_end_still_ends_with_the_words(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply(deltas=("All ", "of it."), fault=None, chunk_delay=0.5))
    _, turn = asked(caller)
    begun(caller, turn, words=1)
    time.sleep(0.55)
    with Redis.from_url(settings.REDIS_URL) as redis:
        redis.delete(stream_key(Turn.objects.get(pk=turn).pk))
    caller.wait(turn)
    assert Viewer().watch(caller.http, turn).text == "All of it."


def test_usage_that_cannot_be_costs_no_answer(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("Because.", usage=Usage(input_tokens=10**10, output_tokens=10**10)))
    _, turn = asked(caller)
    ended = caller.wait(turn)
    assert (ended["status"], ended["input_tokens"]) == ("complete", None)


def test_a_reply_whose_figures_cannot_be_stored_ends_at_once_with_its_words(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("Because.", usage=Usage(input_tokens=7, output_tokens=2)))
    with refusing("conversations_turn", "NEW.input_tokens = 7"):
        conversation, turn = asked(caller)
        ended = caller.wait(turn)
    assert (ended["status"], ended["error_code"], ended["input_tokens"]) == ("failed", "internal", None)
    assert caller.messages(conversation)[-1]["text"] == "Because."
    assert "end_not_stored" in stack.output("worker")


def test_the_events_of_a_finished_reply_do_not_stay_for_ever(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("Because."))
    _, turn = asked(caller)
    Viewer().watch(caller.http, turn)
    with Redis.from_url(settings.REDIS_URL) as redis:
        life = redis.ttl(stream_key(Turn.objects.get(pk=turn).pk))
    assert 0 < life <= settings.POCKETCHAT_STREAM_LIFE


def test_viewers_are_shown_what_is_stored_whatever_the_provider_sends(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply(deltas=("One\x00 two\r", "\nthree\x07", " \ud83d", "\ude00 four")))
    conversation, turn = asked(caller)
    viewer = Viewer().watch(caller.http, turn)
    assert viewer.text == caller.messages(conversation)[-1]["text"] == "One two\nthree 😀 four"


def test_many_viewers_of_a_reply_hold_no_threads(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply(LONG, chunk_chars=7, chunk_delay=0.08))
    _, turn = asked(caller)
    web = next(process for process in map(psutil.Process, stack.pids()) if str(stack.ports[0]) in process.cmdline())
    before = web.num_threads()
    viewers: list[Viewer] = []
    with ThreadPoolExecutor(VIEWERS) as watching:
        for _ in range(VIEWERS):
            watching.submit(lambda: viewers.append(Viewer().watch(caller.http, turn)))
        time.sleep(4)  # Past the first time that they ask whether it has ended.
        during = web.num_threads()
    assert during - before < VIEWERS / 2, (before, during)
    assert [viewer.text for viewer in viewers] == [LONG] * VIEWERS


def test_leases_are_renewed_while_everything_else_waits_for_the_database(stack: Stack, caller: Caller) -> None:
    begun_turns = []
    for _ in range(6):
        stack.provider.script(Reply(LONG, chunk_chars=7, chunk_delay=0.08))
        begun_turns.append(asked(caller)[1])
    wait_until(lambda: Message.objects.filter(role="assistant").count() == len(begun_turns), seconds=10)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE conversations_message")
        time.sleep(5.5)  # Longer than a lease, and all threads have a save to wait with.
        assert Turn.objects.filter(lease_until__gt=timezone.now(), pk__in=begun_turns).count() == len(begun_turns)
    assert [caller.wait(turn)["status"] for turn in begun_turns] == ["complete"] * len(begun_turns)


def test_a_provider_that_never_ends_is_cut_off_and_its_first_words_are_kept(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("word " * 250_000, chunk_chars=5000))
    conversation, turn = asked(caller)
    ended = caller.wait(turn)
    assert (ended["status"], ended["error_code"]) == ("failed", "endless_reply")
    assert len(caller.messages(conversation)[-1]["text"]) == 1_000_000


def test_a_silent_stream_says_every_fifteen_seconds_that_it_lives(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("At last.", first_delay=17, keep_alive=0.5))
    _, turn = asked(caller)
    began = time.monotonic()
    with caller.http.stream("GET", f"turns/{turn}/events") as response:
        heard = [time.monotonic() - began for line in response.iter_lines() if line == ": still here"]
    assert len(heard) == 1
    assert 12 < heard[0] < 17


def test_a_watched_reply_shows_nothing_more_once_its_conversation_is_in_the_bin(stack: Stack, caller: Caller) -> None:
    stack.provider.script(Reply("word " * 300, chunk_chars=5, chunk_delay=0.05))
    conversation, turn = asked(caller)
    begun(caller, turn)
    with ThreadPoolExecutor(1) as elsewhere:
        watching = elsewhere.submit(Viewer().watch, caller.http, turn)
        time.sleep(1)
        Conversation.objects.update(trashed_at=timezone.now())
        viewer = watching.result(timeout=10)
    Conversation.objects.update(trashed_at=None)
    assert (viewer.status, viewer.text) == ("gone", "")
    caller.stop(turn)
    assert caller.wait(turn)["status"] == "stopped"
    assert caller.messages(conversation)[-1]["text"].startswith("word word")


def test_a_viewer_of_what_goes_into_the_bin_is_told_at_once_and_finds_the_words_when_it_is_back(
    stack: Stack, caller: Caller
) -> None:
    stack.provider.script(Reply("word " * 300, chunk_chars=5, chunk_delay=0.05))
    conversation, turn = asked(caller)
    begun(caller, turn)
    with ThreadPoolExecutor(1) as elsewhere:
        watching = elsewhere.submit(Viewer().watch, caller.http, turn)
        time.sleep(1)
        binned = time.monotonic()
        caller.http.delete(f"conversations/{conversation}").raise_for_status()
        viewer = watching.result(timeout=10)
    assert (viewer.status, viewer.text) == ("gone", "")
    assert time.monotonic() - binned < 2
    assert wait_until(lambda: stack.provider.open_connections == 0, seconds=3)
    caller.http.post(f"conversations/{conversation}/restore").raise_for_status()
    again = Viewer().watch(caller.http, turn)
    assert again.status == "stopped"
    assert again.text.startswith("word word")
    assert caller.messages(conversation)[-1]["text"] == again.text
