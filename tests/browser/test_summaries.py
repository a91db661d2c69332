"""A conversation far longer than its model's window: a summary stands for what is no longer sent. Its owner reads it,
corrects it, removes it and switches it off; what the page says is what the provider gets."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from conversations import summaries
from conversations.models import Conversation, Summary, Turn
from pocketchat.embedded.process import wait_until
from tests.browser.conftest import Visit
from tests.browser.pictures import snap
from tests.browser.talk import talk_about_bread
from tests.factories import exchange, make_conversation, make_summary
from tests.provider import Reply
from tests.stack import OwnStack, Stack

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]

ROOM = 900
"""Tokens for earlier turns."""
SMALL = "small"
FACT = "My daughter Ida is allergic to walnuts."
NOTES = (
    "The user bakes sourdough at home with a starter of wholemeal rye, kept at about 24 °C. Their daughter Ida is "
    "allergic to walnuts, so the assistant keeps nuts out of every recipe. They settled on 75 % water and a long, cold "
    "rise overnight.\n\nOpen: whether to buy a proofing basket, and how to bake in the heat of July."
)
CORRECTION = "Ida is allergic to hazelnuts, not to walnuts. The user bakes sourdough."
ANSWER = Reply("Colder water, less starter, and a rise that you end an hour earlier than the recipe says.")
REFUSED = "Failed to load resource: the server responded with a status of {}"
"""The browser itself reports it."""
LABEL = "Summarise earlier messages when there is no more room for them"


@pytest.fixture(scope="module")
def running(own_stack: OwnStack) -> Iterator[Stack]:
    """Little room for earlier turns, and a small model for the summaries."""
    with own_stack(
        POCKETCHAT_SUMMARIES="true",
        POCKETCHAT_SMALL_MODEL=f"openai:{SMALL}",
        POCKETCHAT_HISTORY_TOKENS=str(ROOM),
    ) as stack:
        yield stack


@pytest.fixture
def bread(person: User) -> Conversation:
    """Twelve turns, of which the last few are sent."""
    conversation = make_conversation(person, title="Sourdough at home", title_source="user")
    talk_about_bread(conversation)
    conversation.refresh_from_db()
    return conversation


@pytest.fixture
def written(bread: Conversation) -> Summary:
    """A summary of the first seven, as a model wrote it."""
    return make_summary(Turn.objects.filter(conversation=bread).order_by("created_at")[6], NOTES)


def address(conversation: Conversation, path: str = "") -> str:
    return f"/c/{conversation.pk}/{path}"


def current(conversation: Conversation) -> Summary | None:
    conversation.refresh_from_db()
    return summaries.current(conversation)


def told(stack: Stack) -> str:
    """What the chat model was told last, before what was said."""
    requests = [request.body for request in stack.provider.requests if request.body["model"] != SMALL]
    return "\n".join(message["content"] for message in requests[-1]["messages"] if message["role"] == "system")


def ask(visit: Visit, text: str) -> None:
    """And wait until the reply has ended, and the page tells of the next request."""
    turns = visit.page.locator("article.turn").count()
    visit.ask(text)
    expect(visit.page.locator("article.turn")).to_have_count(turns + 1)
    expect(visit.page.locator("live-reply")).to_have_count(0)
    expect(visit.page.locator("#meter")).to_contain_text("Show what the model will see.")


def rolled(stack: Stack) -> None:
    """Nothing is being summarised: what was due is written."""
    since, count = time.monotonic(), -1
    while time.monotonic() - since < 2:
        asked = sum(request.body["model"] == SMALL for request in stack.provider.requests)
        if asked != count:
            since, count = time.monotonic(), asked
        time.sleep(0.1)


def open_summary(page: Page) -> None:
    page.get_by_role("link", name="Read the summary").click()
    expect(page.locator("#panel-title")).to_have_text("What the model will see")
    expect(page.locator("#seen-summary")).to_be_in_viewport()


def correct(page: Page, text: str) -> None:
    page.locator("#correct-summary").click()
    expect(page.get_by_label("What the model shall be told of the earlier messages")).to_be_focused()
    page.get_by_label("What the model shall be told of the earlier messages").fill(text)
    page.get_by_role("button", name="Save").click()


def test_a_fact_of_the_first_turn_reaches_the_model_through_the_summary_which_its_owner_rules(
    visit: Visit, person: User, stack: Stack
) -> None:
    stack.provider.on(lambda body: body["model"] == SMALL, Reply(NOTES))
    conversation = make_conversation(person, title="A long talk", title_source="user")
    exchange(conversation, FACT, "I will keep nuts out of every recipe.")
    for number in range(64):
        exchange(conversation, f"What about flour number {number}?", "It takes a little more water. " * 45)
    assert sum(Turn.objects.values_list("messages__tokens", flat=True)) > 20 * ROOM
    page = visit.log_in(person, address(conversation))
    expect(page.locator("#divider")).not_to_contain_text("summary")
    ask(visit, "What can I bake?")
    wait_until(lambda: current(conversation) is not None, seconds=30)
    written = [request.body for request in stack.provider.requests if request.body["model"] == SMALL]
    assert FACT in str(written[0]["messages"])
    ask(visit, "And what for Ida?")
    ask(visit, "What else?")
    assert FACT not in str(stack.provider.requests[-1].body["messages"])
    assert NOTES in told(stack)

    rolled(stack)
    expect(page.locator("#divider")).to_contain_text("A summary stands for them.")
    open_summary(page)
    expect(page.locator("#seen-summary")).to_contain_text("Their daughter Ida is allergic to walnuts")
    expect(page.locator("#seen-summary")).to_contain_text("Written by small,")

    correct(page, CORRECTION)
    expect(page.locator("#panel")).to_contain_text("Corrected by you,")
    ask(visit, "Which nuts, then?")
    assert CORRECTION in told(stack)
    assert NOTES not in told(stack)

    rolled(stack)
    page.locator("#remove-summary").click()
    expect(page.get_by_role("link", name="Keep it")).to_be_focused()
    expect(page.locator("#panel")).to_contain_text("The model will no longer be told")
    page.locator("#panel").get_by_role("button", name="Remove").click()
    expect(page.locator("#panel")).to_contain_text("You removed the summary")
    ask(visit, "Which nuts were they?")
    assert CORRECTION not in told(stack)
    assert "Summary of earlier" not in told(stack)

    page.get_by_label(LABEL).uncheck()
    expect(page.locator("#panel")).to_contain_text("Summaries are switched off for this conversation")
    rolled(stack)
    asked = len(stack.provider.requests)
    for number in range(4):
        ask(visit, f"Tell me more of flour {number}. " + "word " * 200)
    assert not any(request.body["model"] == SMALL for request in stack.provider.requests[asked:])
    assert "Summary of earlier" not in told(stack)


def test_line_meter_and_panel_follow_what_becomes_of_it(
    visit: Visit, person: User, stack: Stack, bread: Conversation, written: Summary, pictures: Path | None
) -> None:
    page = visit.log_in(person, address(bread))
    meter = page.locator("#meter")
    expect(page.locator("#divider")).to_contain_text("A summary stands for them.")
    snap(page, pictures, "divider", again=lambda: page.evaluate(IN_PLACE, "#divider"))
    open_summary(page)
    snap_panel(page, pictures, "panel")
    page.get_by_label(LABEL).uncheck()
    expect(page.locator("#divider")).not_to_contain_text("A summary stands for them.")
    expect(page.locator("#seen-summary")).to_contain_text("switched off for this conversation")
    expect(page.get_by_label(LABEL)).to_be_focused()
    expect(meter).not_to_contain_text("Summary")
    page.get_by_label(LABEL).check()
    expect(page.locator("#divider")).to_contain_text("A summary stands for them.")
    expect(page.locator("#seen-summary")).to_contain_text("Their daughter Ida")
    correct(page, CORRECTION)
    expect(page.locator("#panel")).to_contain_text("Corrected by you,")
    expect(page.locator("#panel-title")).to_have_text("Summary of earlier messages")
    version = current(bread)
    assert version
    expect(meter).to_contain_text("Summary:")
    page.get_by_role("link", name="What the model will see", exact=True).click()
    expect(page.locator("#seen-summary")).to_contain_text(CORRECTION)
    page.locator("#seen-summary [data-jumps]").click()
    expect(page.locator(".prompt:target")).to_be_in_viewport()
    page.locator("#remove-summary").click()
    expect(page.locator("#panel-title")).to_have_text("Remove the summary?")
    snap_panel(page, pictures, "remove")
    page.locator("#panel").get_by_role("button", name="Remove").click()
    expect(page.locator("#panel")).to_contain_text("You removed the summary")
    expect(page.locator("#divider")).not_to_contain_text("A summary stands for them.")
    snap_panel(page, pictures, "removed")


def test_it_is_corrected_by_keyboard_alone_and_a_draft_survives(
    visit: Visit, person: User, stack: Stack, bread: Conversation, written: Summary, pictures: Path | None
) -> None:
    page = visit.log_in(person, address(bread))
    link = page.get_by_role("link", name="Read the summary")
    link.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#panel-title")).to_be_focused()
    page.locator("#correct-summary").focus()
    page.keyboard.press("Enter")
    box = page.get_by_label("What the model shall be told of the earlier messages")
    expect(box).to_be_focused()
    expect(box).to_have_value(NOTES)
    box.fill("word " * 1800)
    expect(page.locator("#summary-size [data-over]")).to_contain_text("About 1,8")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".seen-problem")).to_contain_text("This summary takes about 1,8")
    expect(box).to_have_value("word " * 1800)
    snap_panel(page, pictures, "too-long")
    box.fill("Half a thought")
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    expect(link).to_be_focused()
    page.reload()
    open_summary(page)
    page.locator("#correct-summary").click()
    expect(box).to_have_value("Half a thought")
    expect(page.locator("#summary-size")).to_contain_text("About 4 of")
    page.get_by_role("link", name="Cancel").click()
    expect(page.locator("#panel")).to_contain_text("Their daughter Ida")
    page.locator("#correct-summary").click()
    expect(box).to_have_value(NOTES)
    snap_panel(page, pictures, "form")
    visit.faults.remove(REFUSED.format("422 (Unprocessable Entity)"))


def test_one_that_went_on_meanwhile_is_shown_beside_the_draft(
    visit: Visit, person: User, stack: Stack, bread: Conversation, written: Summary, pictures: Path | None
) -> None:
    page = visit.log_in(person, address(bread))
    open_summary(page)
    page.locator("#correct-summary").click()
    expect(page.get_by_label("What the model shall be told of the earlier messages")).to_have_value(NOTES)
    summaries.correct(bread, "The user bakes rolls.", through=written.through_message_id)
    page.get_by_label("What the model shall be told of the earlier messages").fill(CORRECTION)
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".seen-problem")).to_contain_text("was written anew since you began")
    expect(page.locator("#panel")).to_contain_text("The user bakes rolls.")
    expect(page.get_by_label("Your words")).to_have_value(CORRECTION)
    snap_panel(page, pictures, "changed")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#panel")).to_contain_text("Saved.")
    version = current(bread)
    assert version
    assert version.text == CORRECTION
    visit.faults.remove(REFUSED.format("409 (Conflict)"))


def test_what_fails_is_told_in_the_panel(
    visit: Visit, person: User, stack: Stack, bread: Conversation, written: Summary
) -> None:
    page = visit.log_in(person, address(bread))
    open_summary(page)
    page.locator("#correct-summary").click()
    page.get_by_label("What the model shall be told of the earlier messages").fill(CORRECTION)
    visit.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#panel .seen-problem")).to_contain_text("You are no longer logged in.")
    expect(page.get_by_label("What the model shall be told of the earlier messages")).to_have_value(CORRECTION)
    visit.faults.clear()  # The browser notes each refusal.


def test_without_javascript_everything_is_a_page_or_a_form(
    plain_visit: Visit, person: User, stack: Stack, bread: Conversation, written: Summary, pictures: Path | None
) -> None:
    page = plain_visit.log_in(person, address(bread))
    page.get_by_role("link", name="Read the summary").click()
    expect(page.locator("#seen-summary")).to_contain_text("Their daughter Ida")
    page.locator("#correct-summary").click()
    box = page.get_by_label("What the model shall be told of the earlier messages")
    box.fill("word " * 1800)
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".seen-problem")).to_contain_text("This summary takes about 1,8")
    box.fill(CORRECTION)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.locator(".seen-text")).to_have_text(CORRECTION)
    snap(page, pictures, "plain")
    page.get_by_label(LABEL).uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Switched off.")).to_be_visible()
    expect(page.get_by_label(LABEL)).not_to_be_checked()
    snap(page, pictures, "plain-off")
    page.locator("#remove-summary").click()
    expect(page.get_by_text("The model will no longer be told")).to_be_visible()
    snap(page, pictures, "plain-remove")
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Removed.")).to_be_visible()
    version = current(bread)
    assert version
    assert version.is_removed


def test_before_there_is_one_the_panel_says_when_one_is_written(
    visit: Visit, person: User, stack: Stack, pictures: Path | None
) -> None:
    conversation = make_conversation(person, title="Short words", title_source="user")
    exchange(conversation)
    page = visit.log_in(person, address(conversation))
    page.locator("#meter").click()
    expect(page.locator("#seen-summary")).to_contain_text("There is none yet.")
    snap_panel(page, pictures, "empty")


def test_one_that_was_prepared_ahead_is_told_as_not_sent(
    visit: Visit, person: User, stack: Stack, bread: Conversation, written: Summary, pictures: Path | None
) -> None:
    last = Turn.objects.filter(conversation=bread).order_by("created_at")[10]
    make_summary(last, "They spoke of rolls, too.", follows=written)
    page = visit.log_in(person, address(bread))
    open_summary(page)
    expect(page.locator("#seen-summary")).to_contain_text("There is a newer one. Prepared ahead, not sent yet")
    snap_panel(page, pictures, "ahead")
    page.locator("#seen-summary").get_by_role("link", name="Read it").click()
    expect(page.locator("#panel")).to_contain_text("They spoke of rolls, too.")
    page.get_by_role("link", name="What the model will see", exact=True).click()
    expect(page.locator("#seen-summary")).to_contain_text("Their daughter Ida")


IN_PLACE = "place => document.querySelector(place).scrollIntoView({ block: 'center' })"
PUT_BACK = """html => {
  const panel = document.querySelector("#panel");
  panel.innerHTML = html;
  if (!panel.open) matchMedia("(width >= 72rem)").matches ? panel.show() : panel.showModal();
  panel.querySelector("#seen-summary")?.scrollIntoView({ block: "start" });
  htmx.process(panel);
}"""


def snap_panel(page: Page, pictures: Path | None, name: str) -> None:
    """Another width closes it."""
    html = page.locator("#panel").inner_html()

    def put_back() -> None:
        page.wait_for_timeout(100)
        page.evaluate(PUT_BACK, html)

    snap(page, pictures, name, again=put_back)
