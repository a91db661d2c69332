"""Where the keyboard writes to and what the reader sees stay where they were, whatever the page exchanges."""

import pytest
from playwright.sync_api import expect

from accounts.models import User
from tests.browser.conftest import Visit
from tests.factories import exchange, make_conversation
from tests.provider import Reply
from tests.stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

LONG = "A long answer.\n\n" * 3


def is_at_the_end(visit: Visit) -> bool:
    away: int = visit.page.evaluate("document.scrollingElement.scrollHeight - innerHeight - scrollY")
    return away < 60


def test_focus_and_place_are_kept(visit: Visit, person: User, stack: Stack) -> None:
    conversation = make_conversation(person, title="Focus", title_source="user")
    for number in range(12):
        exchange(conversation, f"Question {number}", LONG)
    page = visit.log_in(person)
    box = page.get_by_label("Message", exact=True)

    page.get_by_role("link", name="Focus").click()
    expect(box).to_be_focused()

    stack.provider.script(Reply("word " * 100, chunk_chars=5, chunk_delay=0.1), Reply("word " * 30, chunk_delay=0.1))
    visit.ask("More?")
    page.get_by_text("word word").wait_for()
    expect(box).to_be_focused()
    assert is_at_the_end(visit)

    page.keyboard.type("Thought of meanwhile")
    page.keyboard.press("Enter")
    page.get_by_text("Stop the reply, or wait until it is finished").wait_for()
    page.get_by_role("button", name="Stop").focus()
    page.keyboard.press("Enter")
    page.get_by_text("You stopped this reply.").wait_for()
    expect(box).to_be_focused()
    expect(box).to_have_value("Thought of meanwhile")
    expect(page.get_by_text("Stop the reply, or wait until it is finished")).to_have_count(0)

    page.get_by_role("button", name="Try again").click()
    page.get_by_text("word word").wait_for()
    expect(box).to_be_focused()
    assert is_at_the_end(visit)
    page.get_by_role("button", name="Stop").wait_for(state="hidden")

    # Playwright's own click would scroll to where the bar stood before it stuck to the top.
    page.get_by_role("link", name="Rename this conversation").dispatch_event("click")
    expect(page.get_by_label("Title", exact=True)).to_be_focused()
    assert is_at_the_end(visit)
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Rename this conversation")).to_be_focused()
    assert is_at_the_end(visit)
