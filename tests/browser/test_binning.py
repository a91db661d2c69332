"""What a person does with their conversations: pin, archive, delete, undo; the bin, and the way back; searching."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from accounts.models import User
from conversations import binning
from conversations.models import Conversation
from tests.browser.conftest import Visit
from tests.browser.pictures import snap
from tests.factories import ask, edit, exchange, make_conversation
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]

RYE = "Rye takes **longer** to rise, because its flour has little gluten."


def titled(owner: User, title: str, *, days: int = 0) -> Conversation:
    made = make_conversation(owner, title=title, title_source="user")
    exchange(made, f"Tell me about {title.lower()}.", RYE)
    active = timezone.now() - timedelta(days=days)
    Conversation.objects.filter(pk=made.pk).update(last_activity_at=active)
    return made


def test_the_menu_by_keyboard_alone(visit: Visit, person: User, stack: Stack, pictures: Path | None) -> None:
    titled(person, "Bees", days=3)
    bread = titled(person, "Bread", days=9)
    page = visit.log_in(person, f"/c/{bread.pk}/")
    button = page.locator("#conversation-menu summary")
    opened = "(it) => { it.parentElement.open = true; it.focus(); }"
    snap(page, pictures, "menu", again=lambda: button.evaluate(opened))
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".sidebar-label").first).to_have_text("Pinned")
    expect(page.locator("[data-announcer]")).to_have_text("Pinned to the top of the list.")
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".bar-badge")).to_have_text("Archived")
    expect(page.locator(".sidebar-list .entry-title")).to_have_text(["Bees"])
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    for _ in range(4):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Keep it")).to_be_focused()
    snap(page, pictures, "delete")
    page.get_by_role("link", name="Keep it").press("Enter")
    expect(page.get_by_role("link", name="Delete…")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Keep it")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="“Bread” is in the bin")).to_be_visible()
    assert page.url == stack.url() + "/"
    snap(page, pictures, "deleted")
    page.get_by_role("button", name="Undo").click()
    page.wait_for_url(f"**/c/{bread.pk}/")
    bread.refresh_from_db()
    assert (bread.pinned, bread.archived, bread.trashed_at) == (True, True, None)


def test_a_reply_in_another_tab_ends_and_its_draft_stays(visit: Visit, person: User, stack: Stack) -> None:
    bread = titled(person, "Bread")
    page = visit.log_in(person, f"/c/{bread.pk}/")
    box = page.get_by_label("Message", exact=True)
    box.fill("And with spelt?")
    other = visit.context.new_page()
    other.goto(f"{stack.url()}/c/{bread.pk}/delete/")
    other.get_by_role("button", name="Delete").click()
    other.wait_for_url(stack.url() + "/")
    box.press("Enter")
    expect(page.get_by_text("This conversation no longer exists. Nothing was sent.")).to_be_visible()
    expect(box).to_have_value("And with spelt?")
    visit.faults = [fault for fault in visit.faults if "404" not in fault]
    page.reload()
    visit.faults = [fault for fault in visit.faults if "404" not in fault]


def test_the_bin_the_archive_and_your_data(visit: Visit, person: User, pictures: Path | None) -> None:
    now = timezone.now()
    for number, title in enumerate(["A slow weekend in Lisbon", "Bees", "Vaccines, in plain words", "Bread " * 20]):
        binning.put(titled(person, title.strip()), now - timedelta(days=3 * number))
    titled(person, "Kept")
    page = visit.log_in(person, "/bin/")
    snap(page, pictures, "bin")
    restore = page.get_by_role("button", name="Restore", exact=True)
    expect(restore).to_be_disabled()
    page.get_by_label("Select Bees").check()
    expect(page.locator("[data-selected]")).to_have_text("1 selected")
    page.get_by_label("1 selected").check()
    expect(page.locator("[data-selected]")).to_have_text("4 selected")
    page.get_by_label("Select Bees").uncheck()
    restore.click()
    expect(page.get_by_role("status").filter(has_text="3 conversations restored.")).to_be_visible()
    page.get_by_role("button", name="Empty the bin").click()
    expect(page.get_by_role("link", name="Keep it")).to_be_focused()
    snap(page, pictures, "sure")
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_text("The bin is empty.")).to_be_visible()
    snap(page, pictures, "bin-empty")
    visit.go("/conversations/")
    snap(page, pictures, "all")
    visit.go("/data/")
    snap(page, pictures, "data")


def test_searching_leads_to_the_message(visit: Visit, person: User, stack: Stack, pictures: Path | None) -> None:
    bread = titled(person, "Bread with rye")
    first = exchange(bread, "Was für ein Mehl für Crème brûlée?", "我们上个月在东京讨论的那个关于数据库的计划。")
    edit(first.prompt, "And <b>spelt</b>?", "Spelt is a kind of wheat.")
    Conversation.objects.filter(pk=titled(person, "Rye grass").pk).update(archived=True)
    page = visit.log_in(person)
    page.get_by_label("Search conversations").fill("rye")
    page.get_by_label("Search conversations").press("Enter")
    page.wait_for_url("**/search/?q=rye")
    expect(page.locator(".hits mark").first).to_have_text("Rye")
    snap(page, pictures, "search")
    page.locator("main").get_by_label("Search conversations").fill("数据库")
    page.locator("main").get_by_label("Search conversations").press("Enter")
    expect(page.locator(".hits mark")).to_have_text(["数据库"])
    page.locator(".hit-link").click()
    expect(page.get_by_text("This is another version of the conversation")).to_be_visible()
    expect(page.locator(f"#message-{first.prompt_id}")).to_be_in_viewport()
    snap(page, pictures, "another-version")
    page.get_by_role("button", name="Go on from here").click()
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    expect(page.get_by_text("数据库")).to_be_visible()


def test_without_javascript(plain_visit: Visit, person: User, stack: Stack) -> None:
    bread = titled(person, "Bread")
    page = plain_visit.log_in(person, f"/c/{bread.pk}/")
    for on, off in (("Pin", "Unpin"), ("Archive", "Unarchive")):
        page.locator("#conversation-menu summary").click()
        page.get_by_role("button", name=on, exact=True).click()
        page.locator("#conversation-menu summary").click()
        expect(page.get_by_role("button", name=off, exact=True)).to_be_visible()
        page.locator("#conversation-menu summary").click()
    page.locator("#conversation-menu summary").click()
    page.get_by_role("link", name="Delete…").click()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Undo").click()
    page.wait_for_url(f"**/c/{bread.pk}/")
    ask(bread)
    plain_visit.go("/archive/")
    page.get_by_label("Select Bread").check()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("1 conversation is in the bin")).to_be_visible()
    plain_visit.go("/bin/")
    page.get_by_role("button", name="Restore: Bread").click()
    bread.refresh_from_db()
    assert bread.trashed_at is None
