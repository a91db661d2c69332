"""A person watches a reply that calls tools."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.models import User
from tests.browser.conftest import Visit
from tests.browser.pictures import snap
from tests.provider import Reply, ToolCall
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]

SEARCH = ToolCall("search_conversation", json.dumps({"query": "the bees of Crete"}))
LOOK = Reply("Let me look at what we said.", tool_calls=(SEARCH, ToolCall("current_time"), ToolCall("fetch_page")))
FOUND = Reply("You asked about **the bees of Crete** this morning. " * 6, chunk_delay=0.06)
PATIENCE = 20_000
"""Milliseconds: a busy machine."""


def calls(page: Page) -> Locator:
    return page.locator("article.turn").last.locator("details.call")


def order(page: Page) -> list[str]:
    """What stands in the newest reply, from top to bottom."""
    kinds: list[str] = page.locator("article.turn").last.evaluate(
        "turn => Array.from(turn.querySelectorAll('.prose, details.call'), one => one.localName)"
    )
    return kinds


def lines(page: Page) -> list[tuple[str, str]]:
    """State and words of each call."""
    return [(one.get_attribute("data-status") or "", one.locator("summary").inner_text()) for one in calls(page).all()]


SHOWN = [
    ("done", "Searched this conversation for “the bees of Crete”"),
    ("done", "Looked at the clock"),
    ("failed", "Could not use fetch_page"),
]


def test_calls_stand_between_the_words_live_and_after_a_reload(
    visit: Visit, person: User, stack: Stack, pictures: Path | None
) -> None:
    stack.provider.script(Reply("They make thyme honey."), LOOK, FOUND)
    page = visit.log_in(person)
    visit.ask("What do the bees of Crete make?")
    expect(page.locator(".answer .prose")).to_have_text("They make thyme honey.", timeout=PATIENCE)
    visit.ask("What did I ask you before?")
    expect(page.locator(".answer .prose").last).to_contain_text("You asked about", timeout=PATIENCE)
    live = lines(page)
    assert page.locator("live-reply").count() == 1
    expect(page.get_by_role("button", name="Send")).to_be_visible(timeout=PATIENCE)
    assert live == lines(page) == SHOWN
    assert order(page) == ["div", "details", "details", "details", "div"]
    page.reload()
    assert lines(page) == SHOWN
    assert order(page) == ["div", "details", "details", "details", "div"]
    expect(calls(page).first.locator("pre").first).not_to_be_visible()
    calls(page).first.locator("summary").click()
    expect(calls(page).first).to_contain_text("What do the bees of Crete make?")
    snap(page, pictures, "tools")


def test_a_reload_in_mid_reply_keeps_the_calls_in_their_place(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(LOOK, Reply("word " * 60, chunk_delay=0.05))
    page = visit.log_in(person)
    visit.ask("What did I ask you before?")
    expect(page.locator(".answer .prose").last).to_contain_text("word word", timeout=PATIENCE)
    calls(page).first.locator("summary").click()
    page.reload()
    expect(page.locator(".answer .prose").last).to_contain_text("word word word")
    assert order(page) == ["div", "details", "details", "details", "div"]
    calls(page).first.locator("summary").click()
    expect(page.get_by_role("button", name="Send")).to_be_visible(timeout=PATIENCE)
    assert lines(page) == SHOWN
    expect(calls(page).first).to_have_attribute("open", "")  # Whoever reads them goes on reading.


def test_the_keyboard_opens_the_details_of_a_call(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(LOOK, Reply("Nothing."))
    page = visit.log_in(person)
    visit.ask("What did I ask you before?")
    expect(page.get_by_role("button", name="Send")).to_be_visible(timeout=PATIENCE)
    calls(page).first.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(calls(page).first.get_by_text("No earlier message")).to_be_visible()


def test_without_javascript_calls_are_lines_that_unfold(plain_visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(LOOK, Reply("Nothing."))
    page = plain_visit.log_in(person)
    page.get_by_label("Message", exact=True).fill("What did I ask you before?")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".answer .prose").last).to_have_text("Nothing.", timeout=PATIENCE)
    assert lines(page) == SHOWN
    calls(page).first.locator("summary").click()
    expect(calls(page).first.get_by_text("No earlier message")).to_be_visible()


def test_copy_takes_all_the_words_of_a_reply(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(LOOK, Reply("Nothing."))
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit.log_in(person)
    visit.ask("What did I ask you before?")
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "Let me look at what we said.\n\nNothing."
