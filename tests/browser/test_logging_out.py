"""Whoever logs out leaves no word behind in the browser, whatever the pages write down as they go."""

import re

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from tests.browser.conftest import Visit
from tests.factories import exchange, make_conversation
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]


def drafts(page: Page) -> list[str]:
    kept: list[str] = page.evaluate("Object.values(localStorage)")
    return kept


def write(page: Page) -> None:
    """A question, and another in other words."""
    page.get_by_label("Message", exact=True).fill("a secret question")
    page.locator(".prompt").hover()
    page.get_by_role("link", name="Edit this question").click()
    page.get_by_label("Your question in other words").fill("a secret in other words")


@pytest.mark.parametrize("road", ["menu", "page"])
def test_no_draft_is_left_in_any_tab(visit: Visit, person: User, stack: Stack, road: str) -> None:
    conversation = make_conversation(person, title="Secrets", title_source="user")
    exchange(conversation, "Why?", "Because.")
    page = visit.log_in(person, f"/c/{conversation.pk}/")
    other = visit.context.new_page()
    other.goto(page.url)
    for tab in (other, page):
        write(tab)
    page.wait_for_function("() => Object.values(localStorage).length === 2")
    if road == "page":
        page.goto(f"{visit.address}/accounts/logout/")
    else:
        page.locator(".menu-summary").last.click()
    page.get_by_role("button", name="Log out").last.click()
    expect(page).to_have_url(re.compile("/accounts/login/"))
    assert drafts(page) == []
    other.goto(visit.address)
    expect(other).to_have_url(re.compile("/accounts/login/"))
    assert drafts(other) == []


def test_what_is_typed_in_another_tab_after_that_is_kept(visit: Visit, person: User, stack: Stack) -> None:
    page = visit.log_in(person)
    other = visit.context.new_page()
    other.goto(visit.address)
    page.locator(".menu-summary").last.click()
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_url(re.compile("/accounts/login/"))
    box = other.get_by_label("Message", exact=True)
    box.fill("Thought of")
    box.press_sequentially(" since")
    other.wait_for_function("() => Object.values(localStorage).some((draft) => draft.includes('Thought of since'))")
    other.close()  # With it goes whatever its meter still asks.
    visit.faults.clear()  # The browser itself reports that the meter was refused.
