"""On a page of older turns: what begins a reply leads to where it can be stopped, what is refused is said there."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.models import User
from conversations.models import Conversation, Turn
from tests.browser.conftest import Visit
from tests.browser.pictures import snap
from tests.factories import exchange, make_conversation, regenerate, reply_of
from tests.provider import Reply
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]

ENDLESS = Reply("word " * 4000, chunk_delay=0.03)
NEWEST = re.compile(r"/c/[^/?]+/#")


@pytest.fixture
def first(person: User) -> Turn:
    """Two versions of a reply, and what was said since."""
    conversation = make_conversation(person, title="Bees", title_source="user")
    turn = exchange(conversation, "Why?", "A1")
    regenerate(turn, "A2")
    for number in range(6):
        exchange(conversation, f"Question {number}?", "Because.\n\n" * 8)
    return turn


def older(conversation: Conversation) -> str:
    """The page up to the first reply that is on the active branch."""
    shown = Turn.objects.filter(conversation=conversation).order_by("created_at")[1]
    return f"/c/{conversation.pk}/?through={reply_of(shown).pk}"


def stop_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Stop the reply")


def test_a_reply_asked_for_there_can_be_stopped(visit: Visit, person: User, first: Turn, stack: Stack) -> None:
    stack.provider.script(ENDLESS)
    page = visit.log_in(person, older(first.conversation))
    page.get_by_role("button", name="Regenerate").click()
    expect(page).to_have_url(NEWEST)
    expect(page.locator(".answer .prose").last).to_contain_text("word word")
    stop_button(page).click()
    expect(page.get_by_text("You stopped this reply.")).to_be_visible()
    expect(page.get_by_label("Message", exact=True)).to_be_visible()


def test_a_version_gone_to_there_is_one_that_can_be_gone_on_from(
    visit: Visit, person: User, first: Turn, stack: Stack
) -> None:
    page = visit.log_in(person, older(first.conversation))
    page.get_by_role("button", name="Previous version").click()
    expect(page).to_have_url(NEWEST)
    expect(page.locator(".answer .prose")).to_have_text(["A1"])
    expect(page.get_by_label("Message", exact=True)).to_be_visible()


def test_a_question_edited_there_is_answered_where_it_can_be_stopped(
    visit: Visit, person: User, first: Turn, stack: Stack
) -> None:
    stack.provider.script(ENDLESS)
    page = visit.log_in(person, older(first.conversation))
    page.locator(".prompt").hover()
    page.get_by_role("link", name="Edit this question").click()
    page.get_by_label("Your question in other words").fill("Why so?")
    page.keyboard.press("Enter")
    expect(page).to_have_url(NEWEST)
    expect(page.locator(".prompt-text")).to_have_text("Why so?")
    assert page.evaluate("Object.keys(localStorage).filter((name) => name.includes('edit'))") == []
    stop_button(page).click()
    expect(page.get_by_text("You stopped this reply.")).to_be_visible()


def test_a_refusal_is_said_there_and_leads_to_the_reply(
    visit: Visit, person: User, first: Turn, stack: Stack, pictures: Path | None
) -> None:
    stack.provider.script(ENDLESS)
    page = visit.log_in(person, f"/c/{first.conversation_id}/")
    visit.ask("Go on.")
    expect(page.locator(".answer .prose").last).to_contain_text("word word")
    visit.go(older(first.conversation))
    page.get_by_role("button", name="Regenerate").click()
    refusal = page.get_by_role("alert").filter(has_text="A reply is still being written in this conversation.")
    expect(refusal).to_be_in_viewport()
    snap(page, pictures, "refused-on-older-page")
    refusal.get_by_role("button", name="Show the reply").click()
    expect(page).to_have_url(NEWEST)
    stop_button(page).click()
    expect(page.get_by_text("You stopped this reply.")).to_be_visible()
    visit.faults.clear()  # The browser itself reports the refused request.


def test_without_javascript_a_reply_asked_for_there_can_be_stopped_too(
    plain_visit: Visit, person: User, first: Turn, stack: Stack
) -> None:
    stack.provider.script(ENDLESS)
    page = plain_visit.log_in(person, older(first.conversation))
    page.get_by_role("button", name="Regenerate").click()
    expect(page).to_have_url(re.compile(r"/c/[^/?]+/"))
    expect(page.locator(".answer .prose").last).to_contain_text("word word")
    stop_button(page).click()
    expect(page.get_by_text("You stopped this reply.")).to_be_visible()
