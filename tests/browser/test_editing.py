"""A question in other words: given up in two ways that are the same, measured and guarded as in the composer."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.models import User
from conversations.models import Conversation
from tests.browser.conftest import Visit
from tests.browser.pictures import snap
from tests.factories import exchange, make_conversation
from tests.provider import Reply
from tests.stack import OwnStack, Stack

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]

LIMIT = 1000
PASTE = """(box, size) => {
  const data = new DataTransfer();
  data.setData("text/plain", "x".repeat(size));
  return box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def running(own_stack: OwnStack) -> Iterator[Stack]:
    """With little room for questions."""
    with own_stack(POCKETCHAT_PROMPT_CHARACTERS=str(LIMIT)) as stack:
        yield stack


@pytest.fixture
def asked(person: User) -> Conversation:
    conversation = make_conversation(person, title="Sky", title_source="user")
    exchange(conversation, "Why is it blue?", "Because.")
    return conversation


def box(page: Page) -> Locator:
    return page.get_by_label("Your question in other words")


def open_edit(page: Page) -> Locator:
    page.locator(".prompt").hover()
    page.get_by_role("link", name="Edit this question").click()
    return box(page)


@pytest.mark.parametrize("way", ["Escape", "Cancel"])
def test_given_up_words_do_not_come_back(
    visit: Visit, person: User, asked: Conversation, stack: Stack, way: str
) -> None:
    page = visit.log_in(person, f"/c/{asked.pk}/")
    open_edit(page).fill("Words given up")
    page.wait_for_function("() => Object.values(localStorage).some((draft) => draft.includes('given up'))")
    if way == "Escape":
        page.keyboard.press("Escape")
    else:
        page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_role("link", name="Edit this question")).to_be_focused()
    assert page.evaluate("Object.keys(localStorage)") == []
    expect(open_edit(page)).to_have_value("Why is it blue?")
    page.reload()
    expect(open_edit(page)).to_have_value("Why is it blue?")


def test_escape_leaves_a_page_of_its_own_as_cancel_does(
    visit: Visit, person: User, asked: Conversation, stack: Stack
) -> None:
    question = asked.messages.earliest("pk")
    page = visit.log_in(person, f"/c/{asked.pk}/messages/{question.pk}/edit/")
    box(page).fill("Words given up")
    page.keyboard.press("Escape")
    expect(page).to_have_url(f"{visit.address}/c/{asked.pk}/")
    assert page.evaluate("Object.keys(localStorage)") == []


def test_a_question_is_edited_on_a_page_of_its_own(
    visit: Visit, person: User, asked: Conversation, stack: Stack
) -> None:
    stack.provider.script(Reply("So."))
    question = asked.messages.earliest("pk")
    page = visit.log_in(person, f"/c/{asked.pk}/messages/{question.pk}/edit/")
    box(page).fill("x" * (LIMIT + 1))
    page.keyboard.press("Enter")
    expect(page.locator(".edit-problem")).to_contain_text("at most 1,000 are possible")
    box(page).fill("Why is it red?")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{visit.address}/c/{asked.pk}/#newest")
    expect(page.locator(".prompt-text")).to_have_text("Why is it red?")
    expect(page.locator(".answer .prose")).to_have_text("So.")
    assert page.evaluate("Object.keys(localStorage)") == []
    visit.faults.clear()  # The browser itself reports the refused request.


def test_it_is_counted_near_the_limit_and_a_paste_many_times_too_long_is_refused(
    visit: Visit, person: User, asked: Conversation, stack: Stack, pictures: Path | None
) -> None:
    page = visit.log_in(person, f"/c/{asked.pk}/")
    counted = page.locator("edit-question [data-count]")
    open_edit(page).fill("x" * (LIMIT - 200))
    expect(counted).to_be_hidden()
    box(page).fill("Why is it blue? " * 63)
    expect(counted).to_have_text("1,008 of 1,000 characters")
    assert box(page).evaluate(PASTE, LIMIT * 10)
    assert not box(page).evaluate(PASTE, LIMIT * 10 + 1)
    expect(page.locator(".edit-problem")).to_contain_text("at most 1,000 are possible")
    expect(page.locator(".composer-problem")).to_be_empty()
    snap(page, pictures, "edit-counted")
    page.reload()
    open_edit(page)
    expect(counted).to_have_text("1,008 of 1,000 characters")


def test_a_server_out_of_reach_is_told_of_where_one_edits(
    visit: Visit, person: User, asked: Conversation, stack: Stack
) -> None:
    page = visit.log_in(person, f"/c/{asked.pk}/")
    page.route("**/edit/", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    open_edit(page).fill("Why is it red?")
    page.keyboard.press("Enter")
    expect(page.locator(".edit-problem")).to_contain_text("The server cannot be reached.")
    visit.faults.clear()  # The browser itself reports the broken request.
