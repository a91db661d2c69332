"""The pages without a script: what they show, what they cost, what they refuse."""

import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from conversations.access import as_of_one_moment
from conversations.models import Conversation, Message, Turn
from conversations.turns import claim
from conversations.views.thread import thread_of
from pocketchat.embedded.process import wait_until
from tests.factories import answer, ask, exchange, make_conversation
from tests.threads import with_own_connection

pytestmark = pytest.mark.django_db

CONVERSATION_PAGE_QUERIES = 10
"""Session, person, conversation, whether it may be kept, messages, versions, turns, list of conversations, what lies
before the next question, where its window began; for a model with tools those, too; outside tests also the snapshot."""
HX = {"HX-Request": "true"}


def address(conversation: Conversation, path: str = "") -> str:
    return f"/c/{conversation.pk}/{path}"


def newest(conversation: Conversation) -> str:
    return f"{address(conversation)}#newest"


def send(page: Client, conversation: Conversation, text: str = "Why?", **extra: object) -> HttpResponse:
    conversation.refresh_from_db()
    fields = {"text": text, "request_key": str(uuid4()), "parent": conversation.head_id or ""} | extra
    response: Any = page.post(address(conversation, "turns/"), fields)
    return cast("HttpResponse", response)


def test_a_visitor_is_sent_to_log_in_and_back(client: Client, conversation: Conversation) -> None:
    for path in ("/", address(conversation), address(conversation, "turns/"), address(conversation, "rename/")):
        response = client.get(path)
        assert response.status_code == 302
        assert response["Location"] == f"/accounts/login/?next={path}"


def test_a_part_of_a_page_is_refused_to_a_visitor(client: Client, conversation: Conversation) -> None:
    assert client.post(address(conversation, "turns/"), {"text": "Why?"}, headers=HX).status_code == 401


def test_whoever_logs_in_on_the_way_to_sending_finds_the_conversation_open(
    page: Client, conversation: Conversation
) -> None:
    assert page.get(address(conversation, "turns/"))["Location"] == newest(conversation)


def test_whoever_logs_in_on_the_way_to_stopping_finds_the_conversation_and_stops_nothing(
    page: Client, conversation: Conversation
) -> None:
    turn = ask(conversation)
    assert page.get(f"/turns/{turn.pk}/stop/")["Location"] == newest(conversation)
    turn.refresh_from_db()
    assert turn.is_live


def test_a_day_begins_where_the_reader_is(page: Client, owner: User) -> None:
    first_zone, last_zone = ZoneInfo("Pacific/Kiritimati"), ZoneInfo("Pacific/Pago_Pago")
    moment = datetime.now(first_zone).replace(hour=0, minute=0, second=1)
    make_conversation(owner, last_activity_at=moment)
    for zone in (first_zone, last_zone):
        page.cookies["timezone"] = zone.key
        days = (datetime.now(zone).date() - moment.astimezone(zone).date()).days
        assert f">{['Today', 'Yesterday'][days]}</h2>" in page.get("/").content.decode()


def test_a_time_zone_that_is_none_is_passed_over(page: Client) -> None:
    page.cookies["timezone"] = "../etc/passwd"
    assert page.get("/").status_code == 200


def test_a_first_question_opens_its_conversation(page: Client, owner: User) -> None:
    response = page.post("/", {"text": "Why is the sky blue?", "request_key": "k"})
    made = Conversation.objects.get(owner=owner)
    assert response["Location"] == newest(made)
    assert "Why is the sky blue?" in page.get(address(made)).content.decode()


def test_a_first_question_sent_twice_opens_one_conversation(page: Client) -> None:
    first, second = (page.post("/", {"text": "Why?", "request_key": "k"}) for _ in range(2))
    assert first["Location"] == second["Location"]
    assert Conversation.objects.count() == 1


def test_a_question_sent_without_a_script_reloads_the_page(page: Client, conversation: Conversation) -> None:
    response = send(page, conversation)
    assert response["Location"] == newest(conversation)
    shown = page.get(address(conversation)).content.decode()
    assert "Why?" in shown
    assert 'http-equiv="refresh"' in shown


def test_a_question_sent_by_the_script_brings_its_turn(page: Client, conversation: Conversation) -> None:
    response = page.post(address(conversation, "turns/"), {"text": "Why?", "request_key": "k"}, headers=HX)
    turn = Turn.objects.get()
    shown = response.content.decode()
    assert f"turn-{turn.pk}" in shown
    assert f"/api/v1/turns/{turn.pk}/events" in shown
    assert "<html" not in shown
    assert f'value="{turn.prompt_id}"' in shown


def test_text_too_long_is_refused_with_size_and_limit_and_stays_in_the_form(
    page: Client, conversation: Conversation
) -> None:
    text = "x" * (settings.POCKETCHAT_PROMPT_CHARACTERS + 1)
    response = send(page, conversation, text)
    assert response.status_code == 413
    shown = response.content.decode()
    assert "100,001 characters" in shown
    assert text in shown
    assert not Message.objects.exists()


def key_in(shown: str) -> str:
    """The request key of the composer."""
    found = re.search(r'id="composer".*?name="request_key"\s+value="([^"]+)"', shown, re.DOTALL)
    assert found, shown
    return found[1]


def test_other_words_under_an_old_key_are_refused_once_and_taken_the_second_time(
    page: Client, conversation: Conversation
) -> None:
    exchange(conversation)
    Turn.objects.update(request_key="k")
    response = send(page, conversation, "And why that?", request_key="k")
    shown = response.content.decode()
    assert response.status_code == 422
    assert re.search(r">\s*And why that\?\s*</textarea>", shown)
    assert send(page, conversation, "And why that?", request_key=key_in(shown)).status_code == 302
    assert Turn.objects.count() == 2


def test_other_words_under_the_key_that_began_a_conversation_are_taken_the_second_time(page: Client) -> None:
    page.post("/", {"text": "Why?", "request_key": "k"})
    response = page.post("/", {"text": "Why not?", "request_key": "k"})
    assert response.status_code == 422
    assert page.post("/", {"text": "Why not?", "request_key": key_in(response.content.decode())}).status_code == 302
    assert Conversation.objects.count() == 2


@pytest.mark.parametrize("text", ["", "   ", "\u200b", "\u3164"])
def test_an_empty_question_is_refused(page: Client, conversation: Conversation, text: str) -> None:
    assert send(page, conversation, text).status_code == 422
    assert page.post("/", {"text": text}).status_code == 422
    assert not Turn.objects.exists()


def test_a_stale_tab_is_told_and_may_load_the_newer_messages(page: Client, conversation: Conversation) -> None:
    exchange(conversation)
    stale = {"text": "And?", "request_key": "k", "parent": ""}
    response = page.post(address(conversation, "turns/"), stale, headers=HX)
    assert response.status_code == 409
    assert "newer messages" in response.content.decode()
    assert page.post(address(conversation, "turns/"), stale).status_code == 409
    assert Turn.objects.count() == 1


def test_a_busy_conversation_says_so(page: Client, conversation: Conversation) -> None:
    ask(conversation)
    assert send(page, conversation).status_code == 409


def test_a_strangers_conversation_does_not_exist(page: Client, stranger: User) -> None:
    theirs = make_conversation(stranger)
    turn = exchange(theirs)
    assert page.get(address(theirs)).status_code == 404
    assert page.get(address(theirs, "rename/")).status_code == 404
    assert page.post(address(theirs, "turns/"), {"text": "Mine?"}).status_code == 404
    assert page.get(f"/turns/{turn.pk}/").status_code == 404
    assert page.post(f"/turns/{turn.pk}/stop/").status_code == 404
    assert page.post(f"/turns/{turn.pk}/retry/").status_code == 404


def test_a_conversation_in_the_bin_is_gone_from_page_and_list(page: Client, conversation: Conversation) -> None:
    exchange(conversation, "A question to forget")
    Conversation.objects.update(title="Forget me", title_source="user", trashed_at=timezone.now())
    assert page.get(address(conversation)).status_code == 404
    assert "Forget me" not in page.get("/").content.decode()
    assert send(page, conversation).status_code == 404


@pytest.mark.parametrize(
    ("status", "error_code", "words"),
    [
        (Turn.Status.FAILED, "rate_limited", "too many requests"),
        (Turn.Status.FAILED, "something_new", "Something went wrong"),
        (Turn.Status.INTERRUPTED, "", "interrupted"),
        (Turn.Status.STOPPED, "", "You stopped"),
    ],
)
def test_a_reply_that_did_not_end_well_says_why_and_offers_to_try_again(
    page: Client, conversation: Conversation, status: Turn.Status, error_code: str, words: str
) -> None:
    turn = answer(ask(conversation), "", status=status, error_code=error_code)
    shown = page.get(address(conversation)).content.decode()
    assert words in shown
    assert f"/turns/{turn.pk}/retry/" in shown


def test_only_the_newest_turn_offers_to_try_again(page: Client, conversation: Conversation) -> None:
    failed = answer(ask(conversation), "", status=Turn.Status.FAILED, error_code="dropped")
    exchange(conversation, "And?", "So.")
    assert f"/turns/{failed.pk}/retry/" not in page.get(address(conversation)).content.decode()


@pytest.mark.parametrize("headers", [{}, HX], ids=["plain", "part"])
def test_trying_again_while_a_reply_is_written_is_refused_on_the_page(
    page: Client, conversation: Conversation, headers: dict[str, str]
) -> None:
    failed = answer(ask(conversation), "", status=Turn.Status.FAILED, error_code="dropped")
    ask(conversation, "And?")
    response = page.post(f"/turns/{failed.pk}/retry/", headers=headers)
    assert response.status_code == 409
    assert "still being written" in response.content.decode()


def test_a_key_too_long_names_one_attempt_too(page: Client, conversation: Conversation) -> None:
    failed = answer(ask(conversation), "", status=Turn.Status.FAILED, error_code="dropped")
    for _ in range(2):
        assert page.post(f"/turns/{failed.pk}/retry/", {"request_key": "k" * 5000}).status_code == 302
    assert Turn.objects.count() == 2


def test_trying_again_twice_asks_once(page: Client, conversation: Conversation) -> None:
    failed = answer(ask(conversation), "", status=Turn.Status.FAILED, error_code="dropped")
    first, second = (page.post(f"/turns/{failed.pk}/retry/", {"request_key": "k"}, headers=h) for h in ({}, HX))
    assert first["Location"] == newest(conversation)
    assert second.status_code == 200
    assert Turn.objects.count() == 2


def test_stopping_without_a_script_goes_back_to_the_conversation(page: Client, conversation: Conversation) -> None:
    turn = ask(conversation)
    assert page.post(f"/turns/{turn.pk}/stop/")["Location"] == newest(conversation)
    assert page.post(f"/turns/{turn.pk}/stop/", headers=HX).status_code == 204
    turn.refresh_from_db()
    assert turn.status == Turn.Status.STOPPED


def test_nothing_the_model_or_the_user_wrote_becomes_markup(page: Client, conversation: Conversation) -> None:
    evil = "<img src=x onerror=alert(1)><script>alert(1)</script>[x](javascript:alert(1))"
    exchange(conversation, evil, evil)
    Conversation.objects.update(title=evil, title_source="user")
    shown = page.get(address(conversation)).content.decode()
    assert "<img src=x" not in shown
    assert "<script>alert" not in shown
    assert 'href="javascript' not in shown


def test_no_browser_keeps_a_page_for_whoever_comes_after_log_out(page: Client, conversation: Conversation) -> None:
    for path in ("/", address(conversation)):
        assert "no-store" in page.get(path)["Cache-Control"]


def test_the_policy_forbids_everything_inline_and_from_elsewhere(page: Client) -> None:
    response = page.get("/")
    policy = response["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_a_question_that_names_its_conversation_sends_the_title_along(page: Client, conversation: Conversation) -> None:
    fields = {"text": "Why is the sky blue?", "request_key": str(uuid4())}
    part = page.post(address(conversation, "turns/"), fields, headers=HX).content.decode()
    assert 'hx-swap-oob="outerHTML:div#conversation-title"' in part
    assert '<h1 class="bar-heading" dir="auto">Why is the sky blue?</h1>' in part


def test_a_conversation_is_renamed_and_the_name_stays(page: Client, conversation: Conversation) -> None:
    assert page.post(address(conversation, "rename/"), {"title": "Bees"})["Location"] == address(conversation)
    exchange(conversation, "Something else")
    conversation.refresh_from_db()
    assert (conversation.title, conversation.title_source) == ("Bees", "user")
    part = page.post(address(conversation, "rename/"), {"title": "Wasps"}, headers=HX)
    assert "Wasps" in part.content.decode()


def test_a_name_too_long_is_refused_with_the_limit(page: Client, conversation: Conversation) -> None:
    response = page.post(address(conversation, "rename/"), {"title": "x" * 201}, headers=HX)
    assert "200" in response.content.decode()
    conversation.refresh_from_db()
    assert conversation.title == ""


def test_the_list_is_under_the_headings_of_the_calendar(page: Client, owner: User) -> None:
    now = timezone.now()
    for title, days, pinned in (("Kept", 40, True), ("Now", 0, False), ("Then", 4, False), ("Once", 40, False)):
        make_conversation(
            owner, title=title, title_source="user", pinned=pinned, last_activity_at=now - timedelta(days=days)
        )
    shown = page.get("/").content.decode()
    order = [
        shown.index(word) for word in ("Pinned", "Kept", "Today", "Now", "Previous 7 days", "Then", "Older", "Once")
    ]
    assert order == sorted(order)


def test_the_list_goes_on_page_by_page_without_a_gap_or_a_repeat(page: Client, owner: User) -> None:
    now = timezone.now()
    for number in range(120):
        make_conversation(
            owner,
            title=f"Number {number:03}.",
            title_source="user",
            pinned=number % 40 == 0,
            last_activity_at=now - timedelta(hours=number // 2),
        )
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        response = page.get("/sidebar/", {"after": cursor}, headers=HX)
        sidebar = response.context["sidebar"]
        seen += [entry.title for _, entries in sidebar.groups for entry in entries]
        cursor = sidebar.next_cursor
    assert len(seen) == len(set(seen)) == 120


@pytest.mark.parametrize("cursor", ["x", "a:b:c", "%00"])
def test_a_cursor_we_did_not_make_begins_at_the_top(page: Client, conversation: Conversation, cursor: str) -> None:
    """The list that is on the page would be there twice: the page is loaded anew."""
    assert page.get("/sidebar/", {"after": cursor})["Location"] == "/sidebar/"
    assert page.get("/sidebar/", {"after": cursor}, headers=HX)["HX-Refresh"] == "true"


@pytest.mark.parametrize("name", ["before", "through"])
def test_turns_around_a_message_that_is_gone_are_not_found(
    page: Client, conversation: Conversation, stranger: User, name: str
) -> None:
    exchange(conversation)
    elsewhere = exchange(make_conversation(stranger))
    assert page.get(address(conversation), {name: elsewhere.prompt_id}).status_code == 404


@pytest.mark.parametrize("key", ["a\x00b", "c" * 300 + "\x00"])
def test_a_key_with_what_no_database_takes_is_mended(page: Client, conversation: Conversation, key: str) -> None:
    turn = exchange(conversation)
    mended = key.replace("\x00", "")[:200]
    assert page.post("/", {"text": "Why?", "request_key": key}).status_code == 302
    assert send(page, conversation, "And?", request_key=key).status_code == 302
    answer(Turn.objects.live().get(conversation=conversation))
    assert page.post(f"/turns/{turn.pk}/retry/", {"request_key": "2" + key}).status_code == 302
    assert set(Conversation.objects.exclude(pk=conversation.pk).values_list("request_key", flat=True)) == {mended}
    assert Turn.objects.filter(request_key=mended).count() == 2
    assert Turn.objects.filter(request_key=f"2{mended}"[:200]).count() == 1


def test_older_turns_are_a_page_of_their_own(page: Client, conversation: Conversation) -> None:
    for number in range(40):
        exchange(conversation, f"Question {number}.", f"Answer {number}.")
    newest = page.get(address(conversation))
    assert "Question 39." in newest.content.decode()
    assert "Question 5." not in newest.content.decode()
    before = newest.context["older_before"]
    older = page.get(address(conversation), {"before": before}, headers=HX)
    assert "Question 5." in older.content.decode()
    assert older.context["turns"][-1].prompt.pk < before
    assert page.get(address(conversation), {"before": "nonsense"}).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_without_a_script_the_page_after_stop_shows_the_end(page: Client, conversation: Conversation) -> None:
    turn = ask(conversation)
    claim(turn.pk, lease=timedelta(seconds=15))

    @with_own_connection
    def end_as_its_worker_does() -> None:
        assert wait_until(Turn.objects.filter(stop_requested_at__isnull=False).exists, seconds=5)
        time.sleep(0.4)
        answer(Turn.objects.get(pk=turn.pk), "Beca", status=Turn.Status.STOPPED)

    with ThreadPoolExecutor(1) as worker:
        ending = worker.submit(end_as_its_worker_does)
        stopped = page.post(f"/turns/{turn.pk}/stop/", follow=True)
        ending.result()
    assert "You stopped this reply." in stopped.content.decode()


def test_stop_waits_for_no_worker_that_does_not_answer(page: Client, conversation: Conversation) -> None:
    turn = ask(conversation)
    claim(turn.pk, lease=timedelta(seconds=15))
    began = time.monotonic()
    assert page.post(f"/turns/{turn.pk}/stop/").status_code == 302
    assert time.monotonic() - began < 2
    began = time.monotonic()
    assert page.post(f"/turns/{turn.pk}/stop/", headers=HX).status_code == 204
    assert time.monotonic() - began < 0.5


@pytest.mark.django_db(transaction=True)
def test_a_reply_that_ends_while_the_page_is_made_is_shown_as_it_was(conversation: Conversation) -> None:
    turn = ask(conversation)

    with as_of_one_moment():
        seen = Conversation.objects.get(pk=conversation.pk)
        with ThreadPoolExecutor(1) as elsewhere:
            elsewhere.submit(with_own_connection(answer), turn, "Because.").result()
        shown = thread_of(seen).turns[-1]
    assert shown.is_live
    with as_of_one_moment():
        shown = thread_of(Conversation.objects.get(pk=conversation.pk)).turns[-1]
    assert (shown.status, shown.answer_text) == ("complete", "Because.")


def test_a_conversation_page_costs_the_same_whatever_there_is(
    page: Client, owner: User, conversation: Conversation, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    exchange(conversation)
    with django_assert_num_queries(CONVERSATION_PAGE_QUERIES):
        page.get(address(conversation))
    for _ in range(30):
        exchange(conversation)
        exchange(make_conversation(owner))
    with django_assert_num_queries(CONVERSATION_PAGE_QUERIES):
        page.get(address(conversation))
