"""A person sees what the model sees: the line in the thread, the meter, the panel, the menu of models.

What the page says before a question is compared with what the provider then receives.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.models import User
from conversations.models import Conversation, Message, Turn
from conversations.providers.registry import BUNDLED
from tests.browser.conftest import Visit
from tests.browser.pictures import snap
from tests.browser.talk import talk_about_bread
from tests.factories import exchange, make_conversation
from tests.provider import Reply
from tests.stack import OwnStack, Stack

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]

ROOM = 900
"""Tokens for earlier turns."""
QUESTION = "It will be 32 °C at the weekend. What should I change?"
ANSWER = Reply("Colder water, less starter, and a rise that you end an hour earlier than the recipe says.")
QUESTIONS_BELOW = """(divider) => {
  const turns = Array.from(document.querySelectorAll("#thread > .turn"));
  const isBelow = (turn) => divider.hidden || divider.compareDocumentPosition(turn) & Node.DOCUMENT_POSITION_FOLLOWING;
  return turns.filter(isBelow).map((turn) => turn.querySelector(".prompt-text").innerText.trim());
}"""


@pytest.fixture(scope="module")
def running(own_stack: OwnStack) -> Iterator[Stack]:
    """With little room for earlier turns, and a second model at the same provider."""
    with own_stack(POCKETCHAT_LEASE="4", POCKETCHAT_PROVIDER_SILENCE="3", POCKETCHAT_HISTORY_TOKENS=str(ROOM)) as stack:
        stack.environment["POCKETCHAT_BUNDLED_URL"] = stack.provider.openai_url
        stack.stop("web0")
        stack.restart_web()
        stack.stop("worker")
        stack.start_worker()
        yield stack


@pytest.fixture
def bread(person: User) -> Conversation:
    conversation = make_conversation(person, title="Sourdough at home", title_source="user")
    talk_about_bread(conversation)
    return conversation


def address(conversation: Conversation) -> str:
    return f"/c/{conversation.pk}/"


def divider(page: Page) -> Locator:
    return page.locator("#divider")


def in_view(page: Page) -> list[str]:
    """The questions that the page says would be sent."""
    below: list[str] = divider(page).evaluate(QUESTIONS_BELOW)
    return below


def received(stack: Stack) -> list[str]:
    """The questions that the provider got last, but for the one that was asked."""
    messages = stack.provider.requests[-1].body["messages"]
    return [message["content"] for message in messages if message["role"] == "user"][:-1]


def answered(page: Page, count: int) -> None:
    expect(page.locator("live-reply")).to_have_count(0)
    expect(page.locator("article.turn .answer .prose")).to_have_count(count)


def settled(page: Page) -> None:
    """No reply is written, and what the page says is of the next request."""
    expect(page.locator("live-reply")).to_have_count(0)
    expect(page.locator("#meter")).to_contain_text("Show what the model will see.")


def keeps_its_word(visit: Visit, stack: Stack, text: str = QUESTION) -> None:
    """Send a question; what the page said would be sent with it is what the provider gets."""
    page = visit.page
    settled(page)
    page.get_by_label("Message", exact=True).fill(text)
    said = page.locator("#meter").inner_text()
    expect(page.locator("#meter")).not_to_have_text(said)  # It follows what is typed.
    promised, turns = in_view(page), page.locator("article.turn").count()
    count = len(stack.provider.requests)
    page.get_by_label("Message", exact=True).press("Enter")
    stack.provider.wait_for_requests(count + 1)
    assert received(stack) == promised
    expect(page.locator("article.turn")).to_have_count(turns + 1)
    expect(page.locator("live-reply")).to_have_count(0)


def test_one_message_and_everything_in_view(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(Reply("Because."), Reply("So."))
    page = visit.log_in(person)
    visit.ask("Why?")
    answered(page, 1)
    expect(divider(page)).to_be_hidden()
    keeps_its_word(visit, stack)
    assert received(stack) == ["Why?"]
    expect(divider(page)).to_be_hidden()


def test_a_window_that_was_cut_moves_while_the_page_is_open(
    visit: Visit, person: User, stack: Stack, bread: Conversation
) -> None:
    stack.provider.script(ANSWER, Reply("word " * 400), ANSWER)
    page = visit.log_in(person, address(bread))
    expect(divider(page)).to_be_visible()
    assert 2 < len(in_view(page)) < 12
    keeps_its_word(visit, stack)
    settled(page)
    before = in_view(page)
    keeps_its_word(visit, stack, "Write me a very long story.")
    page.wait_for_function("count => document.querySelectorAll('#divider ~ .turn').length < count", arg=len(before))
    without_reload = in_view(page)
    page.reload()
    assert in_view(page) == without_reload
    keeps_its_word(visit, stack, "And the end of it?")


def test_a_live_reply_shows_what_it_was_sent_and_its_end_moves_the_line(
    visit: Visit, person: User, stack: Stack, bread: Conversation
) -> None:
    stack.provider.script(Reply("word " * 700, chunk_delay=0.003))
    page = visit.log_in(person, address(bread))
    visit.ask("Tell me everything about rye.")
    expect(page.locator("live-reply")).to_be_visible()
    stack.provider.wait_for_requests(1)
    expect(page.locator("#meter")).to_contain_text("Show what the model sees.")
    assert in_view(page)[:-1] == received(stack)
    page.locator("#meter").click()
    expect(page.locator("#panel-title")).to_have_text("What the model sees")
    expect(page.locator("#panel")).to_contain_text("Tell me everything about rye.")
    page.keyboard.press("Escape")
    answered(page, 13)
    expect(page.locator("#meter")).to_contain_text("Show what the model will see.")
    page.wait_for_function("document.querySelectorAll('#divider ~ .turn').length <= 1")


def test_each_branch_and_each_model_is_told_as_it_is(
    visit: Visit, person: User, stack: Stack, bread: Conversation
) -> None:
    stack.provider.script(Reply("Short."), *[ANSWER] * 5)
    page = visit.log_in(person, address(bread))
    keeps_its_word(visit, stack)
    third = page.locator("article.turn").nth(2)
    third.scroll_into_view_if_needed()
    third.hover()
    third.get_by_role("link", name="Edit this question").click()
    page.get_by_label("Your question in other words").fill("Is it dead, do you think?")
    page.get_by_label("Your question in other words").press("Enter")
    answered(page, 3)
    expect(divider(page)).to_be_hidden()
    keeps_its_word(visit, stack)
    page.locator(".prompt").nth(2).hover()
    page.get_by_role("button", name="Previous version").click()
    answered(page, 13)
    expect(divider(page)).to_be_visible()
    keeps_its_word(visit, stack, "And in winter?")
    page.locator("#model-choice summary").click()
    page.get_by_role("button", name="SmolLM2").click()
    expect(page.locator("#model-choice summary")).to_contain_text("SmolLM2")
    bread.refresh_from_db()
    assert bread.model == BUNDLED
    keeps_its_word(visit, stack, "What do you say to that?")
    assert "smollm2" in stack.provider.requests[-1].body["model"]


def test_a_window_that_is_empty_is_told(visit: Visit, person: User, stack: Stack, pictures: Path | None) -> None:
    conversation = make_conversation(person, title="A long report", title_source="user")
    exchange(conversation, "Write the report.", "A sentence of the report. " * 200)
    stack.provider.script(ANSWER)
    page = visit.log_in(person, address(conversation))
    expect(divider(page)).to_be_visible()
    snap(page, pictures, "empty-window")
    keeps_its_word(visit, stack)
    assert received(stack) == []


def test_older_turns_that_are_loaded_bring_the_line_to_its_place(visit: Visit, person: User, stack: Stack) -> None:
    conversation = make_conversation(person, title="Short words", title_source="user")
    for number in range(120):
        exchange(conversation, f"Question {number}?", "word " * 4)
    stack.provider.script(ANSWER)
    page = visit.log_in(person, address(conversation))
    expect(divider(page)).to_be_hidden()
    page.get_by_role("link", name="Show earlier messages").click()
    expect(page.locator("article.turn")).to_have_count(60)
    page.get_by_role("link", name="Show earlier messages").click()
    expect(page.locator("article.turn")).to_have_count(90)
    expect(divider(page)).to_be_visible()
    keeps_its_word(visit, stack)
    assert 30 < len(received(stack)) < 120


def test_without_javascript_the_line_is_right_after_a_reload(
    plain_visit: Visit, person: User, stack: Stack, bread: Conversation
) -> None:
    stack.provider.script(ANSWER, ANSWER)
    page = plain_visit.log_in(person, address(bread))
    promised = page.locator("#divider ~ .turn .prompt-text").all_inner_texts()
    page.get_by_label("Message", exact=True).fill(QUESTION)
    page.get_by_role("button", name="Send").click()
    stack.provider.wait_for_requests(1)
    assert received(stack) == promised
    expect(page.locator("article.turn .answer .prose")).to_have_count(13)


def test_without_javascript_everything_is_a_page_or_a_form(
    plain_visit: Visit, person: User, stack: Stack, bread: Conversation, pictures: Path | None
) -> None:
    stack.provider.script(ANSWER)
    page = plain_visit.log_in(person, address(bread))
    page.locator("#meter").click()
    expect(page.get_by_role("heading", name="What the model will see")).to_be_visible()
    page.get_by_label("Your question").fill(QUESTION)
    page.get_by_role("button", name="Show what the model will see").click()
    expect(page.locator(".seen-text").last).to_have_text(QUESTION)
    snap(page, pictures, "plain-page")
    page.locator(".seen-row").first.click()
    expect(page.locator(".prompt:target")).to_be_visible()
    page.get_by_role("link", name="Back to the newest messages").click()
    page.get_by_label("Message", exact=True).fill("Half a thought")
    page.locator("#model-choice summary").click()
    page.get_by_role("button", name="SmolLM2").click()
    expect(page.locator("#model-choice summary")).to_contain_text("SmolLM2")
    expect(page.get_by_label("Message", exact=True)).to_have_value("Half a thought")
    page.locator("#meter").click()
    page.get_by_label("Your question").fill(QUESTION)
    page.get_by_role("button", name="Send").click()
    expect(page.locator("article.turn .answer .prose")).to_have_count(13)
    page.get_by_role("link", name="What the model saw").last.click()
    expect(page.get_by_role("heading", name="What the model saw")).to_be_visible()
    expect(page.locator(".seen-text").last).to_have_text(QUESTION)
    snap(page, pictures, "plain-saw")


def test_the_panel_opens_follows_and_closes_by_keyboard_alone(
    visit: Visit, person: User, stack: Stack, bread: Conversation, pictures: Path | None
) -> None:
    page = visit.log_in(person, address(bread))
    box = page.get_by_label("Message", exact=True)
    box.fill(QUESTION)
    expect(page.locator("#meter")).to_contain_text("Your question: 1")
    snap(page, pictures, "typed")
    box.focus()
    page.keyboard.press("Tab")
    expect(page.locator("#model-choice summary")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#meter")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#panel-title")).to_be_focused()
    expect(page.locator("#panel")).to_contain_text(QUESTION)
    expect(box).to_have_value(QUESTION)
    box.fill(QUESTION + " And on Monday?")
    expect(page.locator("#panel")).to_contain_text("And on Monday?")
    if pictures:
        page.locator("#divider").scroll_into_view_if_needed()
        page.locator("#panel").evaluate("panel => panel.scrollTo(0, 10000)")
        page.screenshot(path=pictures / "panel-end.png")
    expect(box).to_be_focused()
    page.locator("#panel [data-jumps]").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".prompt:target")).to_be_in_viewport()
    page.locator("#panel [data-closes-panel]").focus()
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    expect(page.locator("#meter")).to_be_focused()
    assert not Turn.objects.filter(prompt__content__0__text=QUESTION).exists()


def test_on_a_phone_the_panel_is_a_sheet(
    visit: Visit, person: User, stack: Stack, bread: Conversation, pictures: Path | None
) -> None:
    page = visit.log_in(person, address(bread))
    page.set_viewport_size({"width": 375, "height": 800})
    page.locator("#meter").click()
    sheet = page.locator("#panel")
    expect(sheet).to_be_visible()
    assert sheet.bounding_box() == {"x": 0, "y": 0, "width": 375, "height": 800}
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    expect(page.locator("#meter")).to_be_focused()
    page.keyboard.press("Enter")
    page.locator("#panel [data-jumps]").first.click()
    expect(sheet).to_be_hidden()
    expect(page.locator(".prompt:target")).to_be_in_viewport()


def test_the_menu_of_models_works_by_keyboard_and_keeps_the_draft(
    visit: Visit, person: User, stack: Stack, bread: Conversation, pictures: Path | None
) -> None:
    page = visit.log_in(person, address(bread))
    box = page.get_by_label("Message", exact=True)
    box.fill("Half a thought")
    summary = page.locator("#model-choice summary")
    summary.focus()
    page.keyboard.press("Enter")
    snap(page, pictures, "models")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="SmolLM2")).to_be_focused()
    page.keyboard.press("Enter")
    expect(summary).to_contain_text("SmolLM2")
    expect(box).to_have_value("Half a thought")
    expect(page.locator("#meter")).not_to_contain_text("Tools")
    assert not Turn.objects.filter(prompt__content__0__text="Half a thought").exists()


def test_a_question_too_long_is_told_before_it_is_sent(
    visit: Visit, person: User, stack: Stack, bread: Conversation, pictures: Path | None
) -> None:
    page = visit.log_in(person, address(bread))
    page.get_by_label("Message", exact=True).fill("word " * 8000)
    expect(page.locator("#meter")).to_contain_text("Too long")
    page.locator("#meter").click()
    expect(page.locator("#panel")).to_contain_text("Your question is too long")
    snap(page, pictures, "too-long")


def test_a_reply_tells_what_its_model_saw_and_what_was_brought_back(
    visit: Visit, person: User, stack: Stack, bread: Conversation, pictures: Path | None
) -> None:
    stack.provider.script(ANSWER)
    page = visit.log_in(person, address(bread))
    keeps_its_word(visit, stack)
    turn = Turn.objects.get(prompt__content__0__text=QUESTION)
    allergy = Message.objects.get(content__0__text__startswith="My daughter is allergic")
    recalled = [{"ids": [allergy.pk, allergy.pk + 1], "score": 0.82}]
    assert turn.context is not None
    Turn.objects.filter(pk=turn.pk).update(context=turn.context | {"recalled": recalled})
    page.reload()
    snap(page, pictures, "recalled")
    page.get_by_role("link", name="Recalled 1 earlier turn").click()
    expect(page.locator("#panel-title")).to_have_text("What the model saw")
    expect(page.locator("#seen-recalled")).to_be_in_viewport()
    if pictures:
        page.screenshot(path=pictures / "saw-recalled.png")
    page.locator("#seen-recalled [data-jumps]").click()
    expect(page.locator(f"#message-{allergy.pk}")).to_be_in_viewport()
