"""A question whose answer was lost, sent once more on another branch, is another one: the page takes another key."""

import pytest
from playwright.sync_api import Route, expect

from accounts.models import User
from conversations.models import Conversation, Turn
from tests.browser.conftest import Visit
from tests.factories import exchange, make_conversation, regenerate
from tests.provider import Reply
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def versions(person: User) -> Conversation:
    """A question with two replies, the second in front."""
    conversation = make_conversation(person, title="Sky", title_source="user")
    regenerate(exchange(conversation, "Why?", "A1"), "A2")
    return conversation


def lose(route: Route) -> None:
    """It arrives; what comes back is lost."""
    route.fetch()
    route.abort()


def test_the_same_words_on_another_branch_are_refused_once_and_sent_with_the_next_press(
    visit: Visit, person: User, versions: Conversation, stack: Stack
) -> None:
    stack.provider.script(Reply("First."), Reply("Second."))
    page = visit.log_in(person, f"/c/{versions.pk}/")
    page.route("**/turns/", lose, times=1)
    visit.ask("More?")
    expect(page.get_by_text("The server cannot be reached.")).to_be_visible()
    page.get_by_role("button", name="Previous version").click()
    expect(page.locator(".answer .prose")).to_have_text(["A1"])
    box = page.get_by_label("Message", exact=True)
    box.press("Enter")
    expect(page.get_by_text("Send again")).to_be_visible()
    expect(box).to_have_value("More?")
    box.press("Enter")
    expect(page.locator(".answer .prose")).to_have_text(["A1", "Second."])
    expect(box).to_have_value("")
    assert Turn.objects.filter(conversation=versions).count() == 4
    visit.faults.clear()  # The browser itself reports the lost and the refused request.


def test_a_button_whose_key_was_used_works_when_pressed_again(
    visit: Visit, person: User, versions: Conversation, stack: Stack
) -> None:
    stack.provider.script(Reply("A3"))
    page = visit.log_in(person, f"/c/{versions.pk}/")
    used = Turn.objects.filter(conversation=versions).earliest("created_at").request_key
    form = page.locator("form").filter(has=page.get_by_role("button", name="Regenerate"))
    form.locator("[name=request_key]").evaluate("(input, key) => { input.value = key; }", used)
    page.get_by_role("button", name="Regenerate").click()
    expect(page.get_by_text("Send again")).to_be_visible()
    page.get_by_role("button", name="Regenerate").click()
    expect(page.locator(".answer .prose")).to_have_text(["A3"])
    expect(page.get_by_text("Send again")).to_have_count(0)
    visit.faults.clear()  # The browser itself reports the refused request.


def test_a_question_edited_under_a_used_key_is_sent_with_the_next_press(
    visit: Visit, person: User, versions: Conversation, stack: Stack
) -> None:
    stack.provider.script(Reply("So."))
    page = visit.log_in(person, f"/c/{versions.pk}/")
    used = Turn.objects.filter(conversation=versions).earliest("created_at").request_key
    page.locator(".prompt").hover()
    page.get_by_role("link", name="Edit this question").click()
    box = page.get_by_label("Your question in other words")
    box.fill("Why so?")
    page.locator("edit-question [name=request_key]").evaluate("(input, key) => { input.value = key; }", used)
    box.press("Enter")
    expect(page.locator(".edit-problem")).to_contain_text("Send again")
    box.press("Enter")
    expect(page.locator(".prompt-text")).to_have_text(["Why so?"])
    expect(page.locator(".answer .prose")).to_have_text(["So."])
    visit.faults.clear()  # The browser itself reports the refused request.
