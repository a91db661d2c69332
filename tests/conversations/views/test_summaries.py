"""The pages of a summary: what stands for the earlier messages is read, corrected, removed and switched off there."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import User
from conversations import branches, summaries
from conversations.budgets import most_of_owners_summary
from conversations.models import Conversation, Message, Summary, Turn
from conversations.outlook import next_context
from conversations.retention import holds
from tests.conversations.views.test_contexts import recorded, shown
from tests.factories import answer, ask, edit, exchange, make_conversation, make_summary

pytestmark = pytest.mark.django_db

HX = {"HX-Request": "true"}
LONG = "word " * 80
"""80 tokens."""
BEES = "They spoke of bees, and that the reader is allergic to nuts."
CONVERSATION_QUERIES = 12
"""Session, person, conversation; the three of a page of turns; the four of the next request, one of which is for what
stands for the messages that are left out; the list of conversations."""
PANEL_QUERIES = 13
"""Session, person, conversation, live turn, the four of the next request; the newest summary, which is found, then
read; attempts at the next one; what the record names; the list of conversations."""
SUMMARY_QUERIES = 13
"""The same, with the one message that the summary goes up to."""


@pytest.fixture(autouse=True)
def _small(settings: Settings) -> None:
    settings.POCKETCHAT_CHAT_MODEL = "openai:scripted"
    settings.POCKETCHAT_HISTORY_TOKENS = 400
    settings.POCKETCHAT_RECALL = False


@pytest.fixture
def turns(conversation: Conversation) -> list[Turn]:
    """Six, of which the last three are sent."""
    made = [exchange(conversation, f"Question {number}?", LONG) for number in range(6)]
    conversation.refresh_from_db()
    return made


@pytest.fixture
def written(turns: list[Turn]) -> Summary:
    """A summary of the first three, as a model wrote it."""
    return make_summary(turns[2], BEES)


def address(conversation: Conversation, path: str = "") -> str:
    return f"/c/{conversation.pk}/summary/{path}"


def context(conversation: Conversation) -> str:
    return f"/c/{conversation.pk}/context/"


def typed(version: Summary, text: str) -> dict[str, Any]:
    """What the form sends that shows a version."""
    return {"text": text, "version": version.pk, "through": version.through_message_id}


def said(response: Any) -> str:
    """The words of a page or part, whatever its status."""
    return " ".join(re.sub(r"<[^>]*>", " ", response.content.decode()).split())


def newest(conversation: Conversation) -> Summary:
    conversation.refresh_from_db()
    found = summaries.current(conversation)
    assert found
    return found


def summarises(conversation: Conversation) -> bool:
    conversation.refresh_from_db()
    return conversation.summarises


# Where it is told of


def test_the_line_says_that_a_summary_stands_for_what_is_above_it(
    page: Client, conversation: Conversation, written: Summary
) -> None:
    html = page.get(f"/c/{conversation.pk}/").content.decode()
    assert "A summary stands for them." in html
    assert "Read the summary" in html
    assert f'href="{context(conversation)}#seen-summary"' in html
    assert BEES not in html


@pytest.mark.parametrize("headers", [{}, HX])
def test_the_panel_shows_the_very_version_that_is_sent(
    page: Client, conversation: Conversation, written: Summary, headers: dict[str, str]
) -> None:
    words = shown(page.post(context(conversation), headers=headers))
    record = next_context(conversation).record
    assert record.summary == written.pk
    order = ["Instructions", f"Summary {record.tokens_of('summary')}", "up to this turn: Question 2?", BEES]
    order += ["Written by small,", "Correct", "Remove", "Summarise earlier messages when", "Recent turns"]
    places = [words.index(word) for word in order]
    assert places == sorted(places)


def test_what_it_goes_up_to_is_led_to(page: Client, conversation: Conversation, written: Summary) -> None:
    html = page.get(context(conversation)).content.decode()
    prompt = Turn.objects.get(messages=written.through_message_id).prompt_id
    assert f"?through={written.through_message_id}#message-{prompt}" in html


def test_a_correction_is_told_as_its_owners(page: Client, conversation: Conversation, written: Summary) -> None:
    summaries.correct(conversation, "They spoke of wasps.", through=written.through_message_id)
    words = shown(page.get(context(conversation)))
    assert "They spoke of wasps." in words
    assert "Corrected by you," in words
    assert BEES not in words


def test_a_reply_keeps_the_version_it_was_sent(page: Client, conversation: Conversation, written: Summary) -> None:
    turn = answer(recorded(ask(conversation, "And?")))
    summaries.correct(conversation, "They spoke of wasps.", through=written.through_message_id)
    words = shown(page.get(f"/turns/{turn.pk}/context/"))
    assert BEES in words
    assert "They spoke of wasps." not in words
    assert "Summarise earlier messages" not in words
    assert "The summary as it is now" in words


def test_a_reply_that_was_sent_none_says_nothing_of_it(page: Client, conversation: Conversation) -> None:
    turn = answer(recorded(ask(conversation, "And?")))
    assert "seen-summary" not in page.get(f"/turns/{turn.pk}/context/").content.decode()


def test_a_reply_whose_summary_was_removed_says_so(page: Client, conversation: Conversation, written: Summary) -> None:
    turn = answer(recorded(ask(conversation, "And?")))
    summaries.remove(conversation)
    words = shown(page.get(f"/turns/{turn.pk}/context/"))
    assert "It stood for the messages up to this turn: Question 2?" in words
    assert "It was removed since. Its words are no longer stored." in words
    assert BEES not in words


def test_one_that_was_prepared_ahead_is_told_as_not_sent(
    page: Client, conversation: Conversation, turns: list[Turn], written: Summary
) -> None:
    make_summary(turns[4], "They spoke of honey, too.", follows=written)
    words = shown(page.get(context(conversation)))
    assert BEES in words
    assert "They spoke of honey, too." not in words
    assert "There is a newer one. Prepared ahead, not sent yet" in words
    own = shown(page.get(address(conversation)))
    assert "They spoke of honey, too." in own
    assert "Prepared ahead, not sent yet" in own


def test_one_that_was_prepared_before_anything_made_way_is_told_as_not_sent(
    page: Client, conversation: Conversation, settings: Settings, written: Summary
) -> None:
    settings.POCKETCHAT_HISTORY_TOKENS = 4000
    words = shown(page.get(context(conversation)))
    assert "Prepared ahead, not sent yet" in words
    assert "There is a newer one" not in words
    assert BEES not in words


def test_an_owners_version_of_one_that_was_prepared_before_anything_made_way_is_told_as_not_sent(
    page: Client, conversation: Conversation, settings: Settings, written: Summary
) -> None:
    settings.POCKETCHAT_HISTORY_TOKENS = 4000
    corrected = summaries.correct(conversation, "They spoke of wasps.", through=written.through_message_id)
    assert next_context(conversation).record.summary is None
    for path in (context(conversation), address(conversation)):
        words = shown(page.get(path))
        assert "Prepared ahead, not sent yet" in words
        assert "no room for it" not in words
    settings.POCKETCHAT_HISTORY_TOKENS = 400
    assert next_context(conversation).record.summary == corrected.pk


def test_before_anything_made_way_a_removal_promises_nothing_of_what_is_sent_word_for_word(
    page: Client, conversation: Conversation, settings: Settings, written: Summary
) -> None:
    settings.POCKETCHAT_HISTORY_TOKENS = 4000
    asked = shown(page.get(address(conversation, "remove/")))
    assert "Once there is no more room for the messages up to here, the model will not be told what they said" in asked
    summaries.remove(conversation)
    for path in (context(conversation), address(conversation)):
        words = shown(page.get(path))
        assert "Messages that it went up to are still sent word for word" in words
        assert "the model is not told" not in words
        assert "Write one" in words
    settings.POCKETCHAT_HISTORY_TOKENS = 400
    assert "the model is not told what those messages said" in shown(page.get(context(conversation)))


def test_so_does_one_of_a_summary_that_goes_beyond_the_cut(
    page: Client, conversation: Conversation, turns: list[Turn], written: Summary
) -> None:
    make_summary(turns[4], "They spoke of honey, too.", follows=written)
    summaries.remove(conversation)
    assert "are still sent word for word" in shown(page.get(context(conversation)))


def test_what_its_owner_wrote_in_the_place_of_none_is_no_correction(
    page: Client, conversation: Conversation, written: Summary
) -> None:
    removed = summaries.remove(conversation)
    own = summaries.correct(conversation, "They spoke of wasps.", through=written.through_message_id, seen=removed.pk)
    turn = answer(recorded(ask(conversation, "And?")))
    for path in (context(conversation), address(conversation), f"/turns/{turn.pk}/context/"):
        words = shown(page.get(path))
        assert "Written by you," in words
        assert "Corrected by you," not in words
    summaries.correct(conversation, "They spoke of wasps, too.", through=own.through_message_id)
    assert "Corrected by you," in shown(page.get(address(conversation)))


def test_one_that_is_too_long_for_the_model_is_told_as_not_sent(
    page: Client, conversation: Conversation, settings: Settings, written: Summary
) -> None:
    settings.POCKETCHAT_RETRIEVED_TOKENS = 3
    assert "there is no room for it beside the rest" in shown(page.get(context(conversation)))
    assert "there is no room for it beside the rest" in shown(page.get(address(conversation)))


def test_where_there_is_none_it_is_said_when_one_is_written(page: Client, conversation: Conversation) -> None:
    exchange(conversation)
    for path in (context(conversation), address(conversation)):
        words = shown(page.get(path))
        assert "A model writes one when the oldest messages are about to make way" in words
        assert "Correct" not in words
        assert "Summarise earlier messages" in words


def test_where_the_installation_has_none_nothing_more_is_said(
    page: Client, conversation: Conversation, settings: Settings
) -> None:
    exchange(conversation)
    settings.POCKETCHAT_SUMMARIES = False
    for path in (context(conversation), address(conversation)):
        words = shown(page.get(path))
        assert "Summaries are switched off on this installation." in words
        assert "Summarise earlier messages" not in words
        assert "A model writes one" not in words


def test_each_branch_has_its_own(page: Client, conversation: Conversation, turns: list[Turn], written: Summary) -> None:
    edit(turns[1].prompt, "Question 1, else?", "Short.")
    assert "There is none yet." in shown(page.get(address(conversation)))
    branches.switch(conversation.pk, turns[1].prompt_id)
    assert BEES in shown(page.get(address(conversation)))


def test_a_record_names_no_summary_of_another_conversation(
    page: Client, stranger: User, conversation: Conversation, written: Summary
) -> None:
    theirs = make_summary(exchange(make_conversation(stranger)), "A secret.")
    turn = recorded(ask(conversation, "And?"), summary=theirs.pk, summarised_through=theirs.through_message_id)
    answer(turn)
    assert "A secret." not in page.get(f"/turns/{turn.pk}/context/").content.decode()


# Correcting


@pytest.mark.parametrize("headers", [{}, HX])
def test_the_form_holds_the_words_with_size_and_limit(
    page: Client, conversation: Conversation, written: Summary, headers: dict[str, str]
) -> None:
    response = page.get(address(conversation, "correct/"), headers=headers)
    assert BEES in shown(response)
    limit = most_of_owners_summary("openai:scripted")
    assert f"About {written.tokens} of {limit:,} tokens" in shown(response)
    assert ("<html" in response.content.decode()) is not bool(headers)


def test_the_size_follows_what_is_typed_and_nothing_is_stored(
    page: Client, conversation: Conversation, written: Summary
) -> None:
    words = shown(page.post(address(conversation, "size/"), {"text": LONG}, headers=HX))
    assert words == "About 82 of 512 tokens"
    too_long = page.post(address(conversation, "size/"), {"text": LONG * 20}, headers=HX)
    assert "data-over" in too_long.content.decode()
    assert Summary.objects.get() == written


def test_a_correction_is_what_the_next_request_holds(
    page: Client, conversation: Conversation, written: Summary
) -> None:
    response = page.post(address(conversation, "correct/"), typed(written, " They spoke of wasps.\r\nAnd nuts. "))
    assert response["Location"] == address(conversation)
    corrected = newest(conversation)
    assert corrected.text == "They spoke of wasps.\nAnd nuts."
    assert corrected.source == "user"
    assert next_context(conversation).record.summary == corrected.pk
    words = shown(page.get(response["Location"]))
    assert "Saved." in words
    assert "Corrected by you" in words


def test_the_panel_follows_a_correction_and_the_page_is_told(
    page: Client, conversation: Conversation, written: Summary
) -> None:
    response = page.post(address(conversation, "correct/"), typed(written, "They spoke of wasps."), headers=HX)
    assert response["HX-Trigger"] == "context:changed"
    assert "They spoke of wasps." in shown(response)
    assert "<html" not in response.content.decode()
    assert "Saved." not in shown(page.get(address(conversation)))  # It was said already.


@pytest.mark.parametrize("headers", [{}, HX])
def test_one_too_long_is_refused_with_size_and_limit_and_the_draft_stays(
    page: Client, conversation: Conversation, written: Summary, headers: dict[str, str]
) -> None:
    draft = "They spoke of wasps. " + LONG * 20
    response = page.post(address(conversation, "correct/"), typed(written, draft), headers=headers)
    assert response.status_code == 422
    tokens, limit = summaries.measured(conversation, draft)
    assert f"This summary takes about {tokens:,} tokens; at most {limit:,} are possible" in said(response)
    assert f"About {tokens:,} of {limit:,} tokens" in said(response)
    assert "They spoke of wasps. word word" in said(response)
    assert f'name="version" value="{written.pk}"' in response.content.decode()
    assert newest(conversation) == written


@pytest.mark.parametrize("headers", [{}, HX])
def test_one_that_went_on_meanwhile_is_shown_beside_the_draft_which_is_saved_knowingly(
    page: Client, conversation: Conversation, turns: list[Turn], written: Summary, headers: dict[str, str]
) -> None:
    rolled = make_summary(turns[3], "They spoke of honey.", follows=written)
    response = page.post(address(conversation, "correct/"), typed(written, "They spoke of wasps."), headers=headers)
    assert response.status_code == 409
    assert "was written anew since you began" in said(response)
    assert "They spoke of honey." in said(response)
    assert "They spoke of wasps." in said(response)
    assert newest(conversation) == rolled
    assert f'name="version" value="{rolled.pk}"' in response.content.decode()
    page.post(address(conversation, "correct/"), typed(rolled, "They spoke of wasps."), headers=headers)
    assert newest(conversation).text == "They spoke of wasps."


def test_one_that_was_corrected_elsewhere_is_not_overwritten_unseen(
    page: Client, conversation: Conversation, written: Summary
) -> None:
    elsewhere = summaries.correct(conversation, "They spoke of hornets.", through=written.through_message_id)
    response = page.post(address(conversation, "correct/"), typed(written, "They spoke of wasps."), headers=HX)
    assert response.status_code == 409
    assert "They spoke of hornets." in said(response)
    assert newest(conversation) == elsewhere


def test_one_that_was_removed_elsewhere_is_said_to_be(
    page: Client, conversation: Conversation, written: Summary
) -> None:
    removed = summaries.remove(conversation)
    response = page.post(address(conversation, "correct/"), typed(written, "They spoke of wasps."))
    assert response.status_code == 409
    assert "You removed the summary" in said(response)
    assert newest(conversation) == removed


@pytest.mark.parametrize("nonsense", [{}, {"version": "x", "through": "9" * 40}, {"version": "-1", "through": ""}])
def test_a_form_that_names_no_version_overwrites_none(
    page: Client, conversation: Conversation, written: Summary, nonsense: dict[str, str]
) -> None:
    for named in (nonsense, nonsense | {"through": written.through_message_id}):
        response = page.post(address(conversation, "correct/"), {"text": "They spoke of wasps."} | named)
        assert response.status_code == 409
        assert newest(conversation) == written


@pytest.mark.parametrize("blank", ["", " \n ", "\u200b"])
def test_without_words_it_is_asked_whether_to_remove(
    page: Client, conversation: Conversation, written: Summary, blank: str
) -> None:
    response = page.post(address(conversation, "correct/"), typed(written, blank))
    assert "Remove the summary?" in shown(response)
    assert newest(conversation) == written


@pytest.mark.parametrize("headers", [{}, HX])
def test_where_there_is_none_nothing_is_corrected_or_removed(
    page: Client, conversation: Conversation, headers: dict[str, str]
) -> None:
    exchange(conversation)
    typed_before = {"text": "They spoke of wasps.", "version": 1, "through": 1}
    for path in ("correct/", "remove/"):
        assert "There is no summary to change." in shown(page.get(address(conversation, path), headers=headers))
        told = page.post(address(conversation, path), typed_before, headers=headers)
        assert "There is no summary to change." in shown(told)
    assert not Summary.objects.exists()


# Removing


@pytest.mark.parametrize("headers", [{}, HX])
def test_before_it_is_removed_it_is_said_what_that_does(
    page: Client, conversation: Conversation, written: Summary, headers: dict[str, str]
) -> None:
    words = shown(page.get(address(conversation, "remove/"), headers=headers))
    assert "The model will no longer be told what the messages up to here said; the messages themselves stay." in words
    assert "Question 2?" in words
    assert newest(conversation) == written


def test_removed_it_is_gone_from_the_next_request_and_may_be_written_anew(
    page: Client, conversation: Conversation, written: Summary
) -> None:
    assert page.post(address(conversation, "remove/"))["Location"] == address(conversation)
    assert page.post(address(conversation, "remove/")).status_code == 302  # Pressed twice.
    written.refresh_from_db()
    assert written.text == ""
    assert next_context(conversation).record.summary is None
    for path in (address(conversation), context(conversation)):
        words = shown(page.get(path))
        assert "You removed the summary" in words
        assert "Write one" in words
    assert Message.objects.filter(conversation=conversation).count() == 12
    page.post(address(conversation, "correct/"), typed(newest(conversation), "Of wasps."))
    assert next_context(conversation).record.summary == newest(conversation).pk


def test_of_what_is_held_no_summary_is_removed(page: Client, conversation: Conversation, written: Summary) -> None:
    """Its words are for good gone with it, of all its versions."""
    holds.place(user=conversation.owner, reason="Case 7", by=None, now=timezone.now())
    html = page.post(address(conversation, "remove/")).content.decode()
    assert "An administrator holds this" in html
    written.refresh_from_db()
    assert written.text == BEES
    assert Summary.objects.count() == 1


def test_the_panel_follows_a_removal_and_the_page_is_told(
    page: Client, conversation: Conversation, written: Summary
) -> None:
    response = page.post(address(conversation, "remove/"), headers=HX)
    assert response["HX-Trigger"] == "context:changed"
    assert "You removed the summary" in shown(response)


# Switching


def test_switched_off_it_is_kept_and_not_sent(page: Client, conversation: Conversation, written: Summary) -> None:
    assert page.post(address(conversation, "switch/"), {})["Location"] == address(conversation)
    assert not summarises(conversation)
    assert next_context(conversation).record.summary is None
    own = page.get(address(conversation))
    assert "Summaries are switched off for this conversation" in shown(own)
    assert BEES in shown(own)
    assert not re.search(r"<input[^>]*\schecked", own.content.decode())
    assert "Summaries are switched off for this conversation" in shown(page.get(context(conversation)))
    assert "A summary stands for them." not in page.get(f"/c/{conversation.pk}/").content.decode()
    page.post(address(conversation, "switch/"), {"on": "on"})
    assert summarises(conversation)
    assert next_context(conversation).record.summary == written.pk


def test_the_panel_follows_the_switch_and_the_page_is_told(
    page: Client, conversation: Conversation, written: Summary
) -> None:
    response = page.post(address(conversation, "switch/"), {}, headers=HX)
    assert response["HX-Trigger"] == "context:changed"
    assert "Switched off." in shown(response)


def test_who_had_to_log_in_on_the_way_to_the_switch_switched_nothing(page: Client, conversation: Conversation) -> None:
    assert page.get(address(conversation, "switch/"))["Location"] == address(conversation)
    assert summarises(conversation)


# Who may, and what it costs

PATHS = ("", "correct/", "size/", "remove/", "switch/")


def test_a_strangers_summary_is_neither_read_nor_changed(
    client: Client, stranger: User, conversation: Conversation, written: Summary
) -> None:
    client.force_login(stranger)
    for path in PATHS:
        assert client.get(address(conversation, path)).status_code in (404, 405)
        assert client.post(address(conversation, path), typed(written, "Ha.")).status_code in (404, 405)
    assert client.get(address(conversation)).status_code == 404
    assert client.post(address(conversation, "size/"), {"text": ""}).status_code == 404
    assert Summary.objects.get() == written
    assert summarises(conversation)


def test_a_binned_conversation_has_no_summary(page: Client, conversation: Conversation, written: Summary) -> None:
    Conversation.objects.filter(pk=conversation.pk).update(trashed_at=timezone.now())
    for path in ("", "correct/", "remove/", "switch/"):
        assert page.get(address(conversation, path)).status_code == 404
    for path in PATHS[1:]:
        assert page.post(address(conversation, path), typed(written, "Ha.")).status_code == 404
    assert Summary.objects.get() == written


def test_a_visitor_logs_in_first(client: Client, conversation: Conversation, written: Summary) -> None:
    assert client.get(address(conversation)).status_code == 302
    assert client.post(address(conversation, "remove/")).status_code == 302
    assert client.post(address(conversation, "remove/"), headers=HX).status_code == 401
    assert Summary.objects.get() == written


@pytest.mark.parametrize(
    ("path", "queries"),
    [("", CONVERSATION_QUERIES), ("context/", PANEL_QUERIES), ("summary/", SUMMARY_QUERIES)],
)
def test_it_costs_the_same_whatever_there_is(
    page: Client, conversation: Conversation, django_assert_num_queries: DjangoAssertNumQueries, path: str, queries: int
) -> None:
    for _ in range(2):
        for _ in range(6):
            turn = answer(recorded(ask(conversation)), LONG)
        make_summary(turn, BEES)
        for _ in range(6):
            answer(recorded(ask(conversation)), LONG)
        with django_assert_num_queries(queries):
            response = page.get(f"/c/{conversation.pk}/{path}")
        assert (BEES in response.content.decode()) is bool(path)


@contextmanager
def read_rows() -> Iterator[list[Any]]:
    """Whatever the database is asked for and answers."""
    rows: list[Any] = []

    def kept(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        result = execute(sql, params, many, context)
        cursor = context["cursor"].cursor
        if cursor.description:
            rows.extend(found := cursor.fetchall())
            if found:
                cursor.scroll(0, mode="absolute")
        return result

    with connection.execute_wrapper(kept):
        yield rows


def test_the_words_of_a_summary_are_read_where_they_are_shown_and_nowhere_else(
    page: Client, conversation: Conversation, written: Summary
) -> None:
    for path, headers in [("", {}), ("", HX), ("context/meter/", HX)]:
        with read_rows() as rows:
            told = page.post if path else page.get
            assert told(f"/c/{conversation.pk}/{path}", headers=headers).status_code == 200
        assert rows
        assert BEES not in str(rows)
    with read_rows() as rows:
        page.get(context(conversation))
    assert str(rows).count(BEES) == 1
