"""Branches on the pages, without a script: versions, editing, deleting, and what is refused."""

import re
from uuid import uuid4

import pytest
from django.test import Client

from accounts.models import User
from conversations import branches
from conversations.models import Conversation, Message, Turn
from tests.factories import answer, ask, branch_texts, edit, exchange, make_conversation, regenerate, reply_of

pytestmark = pytest.mark.django_db

HX = {"HX-Request": "true"}


def address(conversation: Conversation, path: str = "") -> str:
    return f"/c/{conversation.pk}/{path}"


def shown(page: Client, conversation: Conversation) -> str:
    return page.get(address(conversation)).content.decode()


def counters(html: str) -> list[str]:
    return re.findall(r"Version (\d+ of \d+)", html)


def test_the_counter_stands_where_there_are_versions_and_nowhere_else(page: Client, conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    assert counters(shown(page, conversation)) == []
    regenerate(first, "A2")
    regenerate(first, "A3")
    exchange(conversation, "And?", "Later.")
    assert counters(shown(page, conversation)) == ["3 of 3"]


def test_a_live_regeneration_has_its_place_before_its_first_word(page: Client, conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    regenerate(first)
    html = shown(page, conversation)
    assert counters(html) == ["2 of 2"]
    assert f'value="{reply_of(first).pk}"' in html


def test_going_to_another_version_opens_its_branch(page: Client, conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    exchange(conversation, "And?", "Later.")
    regenerate(first, "A2")
    response = page.post(address(conversation, "branch/"), {"message": reply_of(first).pk})
    assert response["Location"] == f"{address(conversation)}#fork-{first.prompt_id}"
    part = page.post(address(conversation, "branch/"), {"message": reply_of(first).pk}, headers=HX)
    assert "Later." in part.content.decode()
    assert "<html" not in part.content.decode()
    assert part["HX-Retarget"] == "#thread"


@pytest.mark.parametrize("named", ["", "x", "²", "-1", "9" * 30, "9" * 5000])
def test_going_to_nothing_we_know_is_refused(page: Client, conversation: Conversation, named: str) -> None:
    exchange(conversation)
    assert page.post(address(conversation, "branch/"), {"message": named}).status_code == 404


def test_a_question_is_edited_on_a_page_of_its_own(page: Client, conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    where = address(conversation, f"messages/{first.prompt_id}/edit/")
    form = page.get(where).content.decode()
    assert "Why?</textarea>" in form
    key = re.search(r'name="request_key"\s+value="([^"]+)"', form)
    assert key
    for _ in range(2):
        response = page.post(where, {"text": "Why so?", "request_key": key[1]})
        assert response["Location"] == f"{address(conversation)}#newest"
    assert Turn.objects.count() == 2
    assert branch_texts(conversation) == ["Why so?"]


@pytest.mark.parametrize(("text", "status"), [("", 422), ("x" * 100_001, 413)])
def test_a_refused_edit_keeps_its_words(page: Client, conversation: Conversation, text: str, status: int) -> None:
    first = exchange(conversation)
    where = address(conversation, f"messages/{first.prompt_id}/edit/")
    response = page.post(where, {"text": text})
    assert response.status_code == status
    assert f"{text}</textarea>" in response.content.decode()
    assert page.post(where, {"text": text}, headers=HX).status_code == status
    assert Turn.objects.count() == 1


@pytest.mark.parametrize("headers", [{}, HX])
def test_an_edit_refused_for_a_running_reply_leads_to_it(
    page: Client, conversation: Conversation, headers: dict[str, str]
) -> None:
    first = exchange(conversation)
    live = ask(conversation, "And?")
    response = page.post(address(conversation, f"messages/{first.prompt_id}/edit/"), {"text": "Else?"}, headers=headers)
    assert response.status_code == 409
    assert f'action="/turns/{live.pk}/show/"' in response.content.decode()


def test_a_reply_cannot_be_edited(page: Client, conversation: Conversation) -> None:
    reply = reply_of(exchange(conversation))
    assert page.get(address(conversation, f"messages/{reply.pk}/edit/")).status_code == 404


def test_deleting_asks_first_and_says_how_much_goes(page: Client, conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    exchange(conversation, "And?", "Later.")
    regenerate(first, "A2")
    where = address(conversation, f"messages/{reply_of(first).pk}/delete/")
    asked = page.get(where).content.decode()
    assert "the 2 messages below it" in asked
    assert Message.objects.count() == 5
    assert page.post(where)["Location"] == f"{address(conversation)}#fork-{first.prompt_id}"
    assert branch_texts(conversation) == ["Why?", "A2"]
    assert page.post(where).status_code == 404


def test_the_only_version_is_not_deleted_and_the_page_says_why(page: Client, conversation: Conversation) -> None:
    first = exchange(conversation)
    where = address(conversation, f"messages/{first.prompt_id}/delete/")
    for headers in ({}, HX):
        response = page.post(where, headers=headers)
        assert response.status_code == 409
        assert "only version" in response.content.decode()
    assert where not in shown(page, conversation)


def test_a_stranger_sees_changes_and_deletes_nothing(page: Client, stranger: User) -> None:
    theirs = make_conversation(stranger)
    first = exchange(theirs)
    second = edit(first.prompt, "Else?", "So.")
    version = f"messages/{first.prompt_id}/"
    for path in (f"{version}edit/", f"{version}delete/", "elsewhere/"):
        assert page.get(address(theirs, path)).status_code == 404
    for path in (f"{version}edit/", f"{version}delete/", "branch/"):
        fields = {"text": "Mine?", "message": first.prompt_id}
        assert page.post(address(theirs, path), fields).status_code == 404
    assert page.post(f"/turns/{first.pk}/show/").status_code == 404
    theirs.refresh_from_db()
    assert theirs.head == reply_of(second)
    assert Message.objects.count() == 4


def test_a_message_of_another_conversation_of_mine_is_none_of_this_one(
    page: Client, owner: User, conversation: Conversation
) -> None:
    elsewhere = exchange(make_conversation(owner))
    exchange(conversation)
    assert page.get(address(conversation, f"messages/{elsewhere.prompt_id}/edit/")).status_code == 404
    assert page.post(address(conversation, "branch/"), {"message": elsewhere.prompt_id}).status_code == 404


def test_a_stale_page_may_send_its_question_as_a_branch(page: Client, conversation: Conversation) -> None:
    seen = reply_of(exchange(conversation, "One?", "First."))
    exchange(conversation, "Two?", "Second.")
    stale = {"text": "Else?", "request_key": "k", "parent": seen.pk}
    refused = page.post(address(conversation, "turns/"), stale)
    assert refused.status_code == 409
    html = refused.content.decode()
    assert re.search(rf'name="branch_from"\s+value="{seen.pk}"', html)
    assert "Else?</textarea>" in html
    # The page it stands on has the newer messages: sending again from there is no longer stale.
    conversation.refresh_from_db()
    assert re.search(rf'id="composer-parent"\s+form="composer"\s+value="{conversation.head_id}"', html)
    sent = page.post(address(conversation, "turns/"), stale | {"branch_from": seen.pk})
    assert sent.status_code == 302
    assert branch_texts(conversation) == ["One?", "First.", "Else?"]


def test_who_saw_an_empty_conversation_branches_at_its_beginning(page: Client, conversation: Conversation) -> None:
    exchange(conversation)
    stale = {"text": "Else?", "request_key": "k", "parent": ""}
    refused = page.post(address(conversation, "turns/"), stale, headers=HX)
    assert re.search(r'name="branch_from"\s+value="beginning"', refused.content.decode())
    part = page.post(address(conversation, "turns/"), stale | {"branch_from": "beginning"}, headers=HX)
    assert part["HX-Reswap"].startswith("innerHTML")
    assert branch_texts(conversation) == ["Else?"]


def test_a_reply_on_another_branch_is_named_shown_and_stopped_from_here(
    page: Client, conversation: Conversation
) -> None:
    first = exchange(conversation, "Why?", "A1")
    live = regenerate(first)
    branches.switch(conversation.pk, reply_of(first).pk)
    html = shown(page, conversation)
    assert "in another version" in html
    assert f"/turns/{live.pk}/stop/" in html
    assert f"/turns/{live.pk}/events" not in html
    assert page.post(f"/turns/{live.pk}/show/").status_code == 302
    assert f"/turns/{live.pk}/events" in shown(page, conversation)
    answer(live, "A2")
    assert "in another version" not in shown(page, conversation)
    assert page.get(address(conversation, "elsewhere/"), headers=HX).content.decode().strip() == ""


def test_an_attempt_that_brought_nothing_is_told_until_the_conversation_goes_on(
    page: Client, conversation: Conversation
) -> None:
    first = exchange(conversation, "Why?", "A1")
    exchange(conversation, "And?", "Later.")
    failed = answer(regenerate(first), "", status=Turn.Status.FAILED, error_code="rate_limited")
    html = shown(page, conversation)
    assert "too many requests" in html
    assert f"/turns/{failed.pk}/retry/" in html
    assert "Later." in html
    exchange(conversation, "Sure?", "Yes.")
    assert "too many requests" not in shown(page, conversation)


def test_the_end_of_an_attempt_that_brought_nothing_brings_the_branch_back(
    page: Client, conversation: Conversation
) -> None:
    first = exchange(conversation, "Why?", "A1")
    exchange(conversation, "And?", "Later.")
    failed = answer(regenerate(first), "", status=Turn.Status.FAILED, error_code="dropped")
    response = page.get(f"/turns/{failed.pk}/", headers=HX)
    assert response["HX-Retarget"] == "#thread"
    assert "Later." in response.content.decode()


def test_a_question_that_followed_a_failure_shows_that_failure_whatever_came_beside_it(
    page: Client, conversation: Conversation
) -> None:
    failed = answer(ask(conversation, "Why?"), "", status=Turn.Status.FAILED, error_code="rate_limited")
    follow_up = exchange(conversation, "Hello?", "Yes?")
    regenerate(failed, "Because.")
    branches.switch(conversation.pk, follow_up.prompt_id)
    html = shown(page, conversation)
    assert "too many requests" in html
    assert "Because." not in html
    assert counters(html) == ["1 of 2"]


def test_older_pages_count_versions_too(page: Client, conversation: Conversation) -> None:
    first = exchange(conversation, "Why?", "A1")
    regenerate(first, "A2")
    for number in range(35):
        exchange(conversation, f"Q{number}", "A")
    before = page.get(address(conversation)).context["older_before"]
    older = page.get(address(conversation), {"before": before}, headers=HX).content.decode()
    assert counters(older) == ["2 of 2"]


def test_a_page_that_ends_between_a_question_and_its_reply_is_shown(page: Client, conversation: Conversation) -> None:
    reply = reply_of(exchange(conversation))
    assert page.get(address(conversation), {"before": reply.pk}).status_code == 200


def test_a_form_without_a_key_asks_once_each_time(page: Client, conversation: Conversation) -> None:
    first = exchange(conversation)
    where = address(conversation, f"messages/{first.prompt_id}/edit/")
    page.post(where, {"text": "Else?", "request_key": str(uuid4())})
    page.post(where, {"text": "Else?"})
    assert Turn.objects.count() == 3
