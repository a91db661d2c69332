"""A conversation is named while its owner looks on, and named anew when they ask for it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from conversations.models import Conversation
from tests.browser.conftest import Visit
from tests.browser.pictures import snap
from tests.provider import Reply
from tests.stack import OwnStack, Stack

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]

SMALL = "small"


@pytest.fixture(scope="module")
def running(own_stack: OwnStack) -> Iterator[Stack]:
    """Its conversations are named by a model of their own."""
    with own_stack(POCKETCHAT_TITLES="true", POCKETCHAT_SMALL_MODEL=f"openai:{SMALL}") as stack:
        yield stack


def names(stack: Stack, *titles: str) -> None:
    """What the small model answers; the large one says whatever it always says."""
    stack.provider.on(lambda body: body["model"] == SMALL, *(Reply(title) for title in titles))


def heading(page: Page) -> str:
    return page.locator("div#conversation-title h1").inner_text()


def asked_twice(visit: Visit) -> Page:
    page = visit.page
    for number, question in enumerate(("How do I bake bread?", "And with rye?"), start=1):
        visit.ask(question)
        expect(page.locator("article.turn")).to_have_count(number)
        expect(page.get_by_role("button", name="Send")).to_be_visible()
    return page


def test_the_title_appears_in_bar_sidebar_and_tab_without_a_reload(
    visit: Visit, person: User, stack: Stack, pictures: Path | None
) -> None:
    names(stack, "Baking bread with rye")
    visit.log_in(person)
    page = asked_twice(visit)
    expect(page.locator("div#conversation-title h1")).to_have_text("Baking bread with rye")
    expect(page.locator(".entry-title")).to_have_text(["Baking bread with rye"])
    expect(page).to_have_title("Baking bread with rye · PocketChat")
    conversation = Conversation.objects.get(owner=person)
    assert conversation.title_source == "model"
    snap(page, pictures, "named")


def test_a_title_that_is_waited_for_leaves_the_focus_and_what_has_it_alone(
    visit: Visit, person: User, stack: Stack
) -> None:
    stack.provider.on(lambda body: body["model"] == SMALL, Reply("Baking bread with rye", head_delay=5))
    visit.log_in(person)
    page = asked_twice(visit)
    pencil = page.get_by_role("link", name="Rename this conversation")
    pencil.focus()
    pencil.evaluate("(link) => { link.isTheSame = true; }")
    with page.expect_response("**/title/?*"):
        pass
    with page.expect_response("**/title/?*"):
        pass
    assert pencil.evaluate("(link) => link.isTheSame") is True
    expect(page.locator("div#conversation-title h1")).to_have_text("Baking bread with rye")
    expect(pencil).to_be_focused()


def test_a_model_that_names_nothing_leaves_the_first_words(visit: Visit, person: User, stack: Stack) -> None:
    names(stack, "<think>They ask of bread")
    visit.log_in(person)
    page = asked_twice(visit)
    page.wait_for_timeout(3000)
    assert heading(page) == "How do I bake bread?"


def test_the_owner_asks_for_another_title(visit: Visit, person: User, stack: Stack, pictures: Path | None) -> None:
    names(stack, "Baking bread with rye", "Rye bread")
    visit.log_in(person)
    page = asked_twice(visit)
    expect(page.locator("div#conversation-title h1")).to_have_text("Baking bread with rye")
    page.get_by_label("Rename this conversation").click()
    snap(page, pictures, "renaming")
    page.get_by_role("button", name="Suggest").click()
    expect(page.locator("div#conversation-title h1")).to_have_text("Rye bread")
    expect(page.locator(".entry-title")).to_have_text(["Rye bread"])


def test_without_javascript_a_title_is_suggested_too(plain_visit: Visit, person: User, stack: Stack) -> None:
    names(stack, "Rye bread")
    page = plain_visit.log_in(person)
    page.get_by_label("Message", exact=True).fill("How do I bake bread?")
    page.get_by_role("button", name="Send").click()
    page.wait_for_url("**/c/**")
    page.get_by_label("Rename this conversation").click()
    page.get_by_role("button", name="Suggest").click()
    page.wait_for_url("**/c/**")
    conversation = Conversation.objects.get(owner=person)
    for _ in range(50):
        conversation.refresh_from_db()
        if conversation.title == "Rye bread":
            break
        page.wait_for_timeout(200)
    page.reload()
    assert heading(page) == "Rye bread"
