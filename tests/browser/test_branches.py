"""A person on the branches of a conversation: editing, regenerating, going back and forth, deleting."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.models import User
from conversations.models import Conversation, Message, Turn
from tests.browser.conftest import Visit
from tests.browser.pictures import snap
from tests.provider import Failure, Reply
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]

ENDLESS = Reply("word " * 4000, chunk_delay=0.03)


def answers(page: Page) -> Locator:
    return page.locator("article.turn .answer .prose")


def questions(page: Page) -> Locator:
    return page.locator(".prompt-text")


def answered(page: Page, *texts: str) -> None:
    """The page shows these replies and no more, all of them finished."""
    expect(page.locator("live-reply")).to_have_count(0)
    expect(answers(page)).to_have_text(list(texts))


def counter(page: Page) -> Locator:
    return page.locator(".answer .versions-count")


def ask_all(visit: Visit, *questions_asked: str) -> None:
    for count, question in enumerate(questions_asked, start=1):
        visit.ask(question)
        expect(visit.page.locator(".answer-tools")).to_have_count(count)


def test_three_regenerations_are_counted_switched_remembered_and_deleted(
    visit: Visit, person: User, stack: Stack, pictures: Path | None
) -> None:
    stack.provider.script(*(Reply(text) for text in ("A1", "Later.", "A2", "A3", "So.")))
    page = visit.log_in(person)
    ask_all(visit, "Why is the sky blue?", "And at night?")
    page.locator(".answer").first.hover()
    page.get_by_role("button", name="Regenerate").first.click()
    answered(page, "A2")
    expect(counter(page)).to_contain_text("2 / 2")
    page.get_by_role("button", name="Regenerate").click()
    answered(page, "A3")
    expect(counter(page)).to_contain_text("3 / 3")
    snap(page, pictures, "third")
    page.get_by_role("button", name="Previous version").click()
    answered(page, "A2")
    expect(page.get_by_role("button", name="Previous version")).to_be_focused()
    page.keyboard.press("Enter")
    answered(page, "A1", "Later.")
    expect(counter(page)).to_contain_text("1 / 3")
    expect(page.get_by_role("button", name="Next version")).to_be_focused()
    snap(page, pictures, "first")
    page.reload()
    answered(page, "A1", "Later.")
    visit.ask("Sure?")
    answered(page, "A1", "Later.", "So.")
    sent = [message["content"] for message in stack.provider.requests[-1].body["messages"]][1:]
    assert sent == ["Why is the sky blue?", "A1", "And at night?", "Later.", "Sure?"]
    for reply in ("A2", "A3"):
        page.get_by_role("button", name="Next version").click()
        answered(page, reply)
    page.get_by_role("link", name="Delete this version").click()
    expect(page.get_by_text("Delete this version for good?")).to_be_visible()
    snap(page, pictures, "deleting")
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Delete this version")).to_be_focused()
    page.keyboard.press("Enter")
    # A second press of the same key must not be what deletes.
    expect(page.get_by_role("link", name="Keep it")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    answered(page, "A2")
    expect(counter(page)).to_contain_text("2 / 2")
    assert not Message.objects.filter(content__0__text="A3").exists()


def test_a_question_is_edited_in_place_and_both_versions_stay(
    visit: Visit, person: User, stack: Stack, pictures: Path | None
) -> None:
    stack.provider.script(*(Reply(text) for text in ("First.", "Second.", "Third.")))
    page = visit.log_in(person)
    ask_all(visit, "One?", "Two?")
    page.get_by_label("Message", exact=True).fill("half a thought")
    questions(page).last.hover()
    page.get_by_role("link", name="Edit this question").last.click()
    box = page.get_by_label("Your question in other words")
    expect(box).to_be_focused()
    expect(box).to_have_value("Two?")
    snap(page, pictures, "editing")
    page.keyboard.press("Escape")
    expect(questions(page)).to_have_text(["One?", "Two?"])
    expect(page.get_by_role("link", name="Edit this question").last).to_be_focused()
    page.keyboard.press("Enter")
    box.fill("Two, please?")
    box.press("Enter")
    answered(page, "First.", "Third.")
    expect(questions(page)).to_have_text(["One?", "Two, please?"])
    expect(page.get_by_label("Message", exact=True)).to_have_value("half a thought")
    page.get_by_role("button", name="Previous version").click()
    answered(page, "First.", "Second.")
    expect(page.locator(".prompt .versions-count")).to_contain_text("1 / 2")
    snap(page, pictures, "edited")


def test_a_refused_edit_says_so_in_its_place_and_keeps_the_words(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(Reply("First."), ENDLESS)
    page = visit.log_in(person)
    ask_all(visit, "One?")
    visit.ask("Go on.")
    expect(answers(page).last).to_contain_text("word word")
    page.get_by_role("link", name="Edit this question").first.click()
    page.get_by_label("Your question in other words").fill("Uno?")
    page.locator("edit-question").get_by_role("button", name="Send").click()
    expect(page.locator(".edit-problem")).to_contain_text("still being written")
    expect(page.get_by_label("Your question in other words")).to_have_value("Uno?")
    page.reload()
    page.get_by_role("link", name="Edit this question").first.click()
    expect(page.get_by_label("Your question in other words")).to_have_value("Uno?")
    page.get_by_role("button", name="Stop the reply").click()
    expect(page.get_by_text("You stopped this reply.")).to_be_visible()
    visit.faults.clear()  # The browser itself reports the refused request.


def test_editing_the_question_that_is_being_answered_ends_that_reply(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(ENDLESS, Reply("So."))
    page = visit.log_in(person)
    visit.ask("Why?")
    expect(answers(page)).to_contain_text("word word word")
    page.get_by_role("link", name="Edit this question").click()
    page.get_by_label("Your question in other words").fill("Why so?")
    page.locator("edit-question").get_by_role("button", name="Send").click()
    answered(page, "So.")
    page.get_by_role("button", name="Previous version").click()
    expect(answers(page)).to_contain_text("word word word")
    expect(page.get_by_text("You stopped this reply.")).to_be_visible()
    assert stack.provider.requests[0].wait_until_ended() == "client"


def test_whoever_edits_a_question_goes_on_when_its_reply_ends(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(Reply("word " * 60, chunk_delay=0.03), Reply("So."))
    page = visit.log_in(person)
    visit.ask("Why?")
    expect(answers(page)).to_contain_text("word word word")
    page.get_by_role("link", name="Edit this question").click()
    box = page.get_by_label("Your question in other words")
    box.fill("Why so")
    expect(page.get_by_role("button", name="Copy")).to_be_visible()  # The reply has ended.
    expect(box).to_be_focused()
    page.keyboard.type("?")
    page.keyboard.press("Enter")
    answered(page, "So.")
    expect(questions(page)).to_have_text(["Why so?"])
    assert Turn.objects.count() == 2


def test_another_branch_shows_nothing_of_a_reply_and_says_where_it_is(
    visit: Visit, person: User, stack: Stack, pictures: Path | None
) -> None:
    stack.provider.script(Reply("First."), ENDLESS)
    page = visit.log_in(person)
    ask_all(visit, "Why?")
    page.get_by_role("button", name="Regenerate").click()
    expect(answers(page)).to_contain_text("word word")
    expect(page.locator(".answer .versions-count")).to_contain_text("2 / 2")
    page.get_by_role("button", name="Previous version").click()
    answered(page, "First.")
    page.wait_for_timeout(300)
    assert "word" not in page.locator("#thread").inner_text()
    expect(page.get_by_text("A reply is being written in another version.")).to_be_visible()
    snap(page, pictures, "elsewhere")
    visit.ask("And?")
    expect(page.get_by_text("still being written in this conversation")).to_be_visible()
    page.get_by_role("button", name="Show it").click()
    expect(answers(page)).to_contain_text("word word word")
    expect(page.locator(".answer .versions-count")).to_contain_text("2 / 2")
    page.get_by_role("button", name="Previous version").click()
    page.get_by_role("button", name="Stop it").click()
    expect(page.get_by_text("in another version")).to_have_count(0)
    answered(page, "First.")
    visit.faults.clear()  # The browser itself reports the refused request.


def test_a_regeneration_that_fails_leads_back_and_says_so(
    visit: Visit, person: User, stack: Stack, pictures: Path | None
) -> None:
    stack.provider.script(Reply("First."), Reply("Later."), Reply("", fault=Failure("server")), Reply("Better."))
    page = visit.log_in(person)
    ask_all(visit, "Why?", "And?")
    page.locator(".answer").first.hover()
    page.get_by_role("button", name="Regenerate").first.click()
    expect(page.get_by_text("has a problem of its own")).to_be_visible()
    answered(page, "First.", "Later.")
    snap(page, pictures, "failed")
    page.reload()
    expect(page.get_by_text("has a problem of its own")).to_be_visible()
    page.get_by_role("button", name="Try again").click()
    answered(page, "Better.")


def test_a_stale_tab_sends_its_question_as_a_branch(
    visit: Visit, person: User, stack: Stack, pictures: Path | None
) -> None:
    stack.provider.script(*(Reply(text) for text in ("First.", "Second.", "Third.")))
    page = visit.log_in(person)
    ask_all(visit, "One?")
    stale = visit.context.new_page()
    stale.goto(page.url)
    ask_all_again = page.get_by_label("Message", exact=True)
    ask_all_again.fill("Two?")
    ask_all_again.press("Enter")
    answered(page, "First.", "Second.")
    box = stale.get_by_label("Message", exact=True)
    box.fill("Else?")
    box.press("Enter")
    expect(stale.get_by_text("This conversation has newer messages")).to_be_visible()
    snap(stale, pictures, "stale")
    stale.get_by_role("button", name="Send as another version").click()
    answered(stale, "First.", "Third.")
    expect(box).to_have_value("")
    expect(stale.locator(".prompt .versions-count")).to_contain_text("2 / 2")
    assert Turn.objects.count() == 3
    visit.faults.clear()  # The browser itself reports the refused request.


def test_a_tab_whose_reply_was_deleted_says_so(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(Reply("First."), ENDLESS)
    page = visit.log_in(person)
    ask_all(visit, "Why?")
    page.get_by_role("button", name="Regenerate").click()
    expect(answers(page)).to_contain_text("word word")
    page.wait_for_timeout(1500)  # Until the first words are saved there is nothing to delete.
    other = visit.context.new_page()
    other.goto(page.url)
    expect(answers(other)).to_contain_text("word word")
    other.get_by_role("link", name="Delete this version").last.click()
    other.get_by_role("button", name="Delete", exact=True).click()
    answered(other, "First.")
    expect(page.get_by_text("This reply no longer exists")).to_be_visible()
    page.close()
    visit.faults.clear()  # The browser itself reports what is gone, and once more when it asks for the events again.


def test_branches_work_without_javascript(
    plain_visit: Visit, person: User, stack: Stack, pictures: Path | None
) -> None:
    stack.provider.script(*(Reply(text) for text in ("First.", "Second.", "Third.")))
    page = plain_visit.log_in(person)
    page.get_by_label("Message", exact=True).fill("Why?")
    page.get_by_role("button", name="Send").click()
    expect(answers(page)).to_have_text(["First."])
    page.get_by_role("link", name="Edit this question").click()
    snap(page, pictures, "plain-editing")
    page.get_by_label("Your question in other words").fill("Why so?")
    page.locator("edit-question").get_by_role("button", name="Send").click()
    expect(answers(page)).to_have_text(["Second."])
    page.get_by_role("button", name="Previous version").click()
    expect(answers(page)).to_have_text(["First."])
    page.get_by_role("button", name="Regenerate").click()
    expect(answers(page)).to_have_text(["Third."])
    page.get_by_role("link", name="Delete this version").last.click()
    snap(page, pictures, "plain-deleting")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(answers(page)).to_have_text(["First."])
    assert Conversation.objects.get().messages.count() == 4
