"""The list of conversations keeps its order while one writes, without a reload."""

from collections.abc import Iterable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User
from conversations.models import Conversation
from conversations.views.sidebar import ENTRIES_A_PAGE
from tests.browser.conftest import Visit
from tests.factories import exchange, make_conversation, regenerate
from tests.provider import Reply
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]


def listed(owner: User, title: str, *, days: int, pinned: bool = False) -> Conversation:
    """Active so many days ago."""
    conversation = make_conversation(owner, title=title, title_source="user", pinned=pinned)
    regenerate(exchange(conversation), "So it is.")
    active = timezone.now() - timedelta(days=days)
    Conversation.objects.filter(pk=conversation.pk).update(last_activity_at=active)
    return conversation


def groups(page: Page) -> dict[str, list[str]]:
    sections = page.locator(".sidebar-list .sidebar-group").all()
    return {
        " ".join(section.locator(".sidebar-label").all_inner_texts()): section.locator(".entry-title").all_inner_texts()
        for section in sections
    }


def answered(page: Page, texts: Iterable[str]) -> None:
    expect(page.locator(".answer .prose")).to_have_text(list(texts))
    expect(page.get_by_role("button", name="Send")).to_be_visible()


def test_what_one_writes_in_goes_to_the_top_of_today(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(Reply("So."))
    listed(person, "Bees", days=40)
    old = listed(person, "Wasps", days=20)
    listed(person, "Pinned", days=9, pinned=True)
    page = visit.log_in(person, f"/c/{old.pk}/")
    assert groups(page) == {"Pinned": ["Pinned"], "Older": ["Wasps", "Bees"]}
    visit.ask("And?")
    expect(page.locator(".sidebar-label").nth(1)).to_have_text("Today")
    answered(page, ["So it is.", "So."])
    assert groups(page) == {"Pinned": ["Pinned"], "Today": ["Wasps"], "Older": ["Bees"]}
    expect(page.locator(".entry-link[aria-current]")).to_have_text("Wasps")
    page.reload()
    assert groups(page) == {"Pinned": ["Pinned"], "Today": ["Wasps"], "Older": ["Bees"]}


def test_a_group_that_it_leaves_empty_goes_and_one_that_is_there_takes_it(
    visit: Visit, person: User, stack: Stack
) -> None:
    stack.provider.script(Reply("So."))
    old = listed(person, "Wasps", days=20)
    listed(person, "Bees", days=0)
    page = visit.log_in(person, f"/c/{old.pk}/")
    assert groups(page) == {"Today": ["Bees"], "Older": ["Wasps"]}
    visit.ask("And?")
    answered(page, ["So it is.", "So."])
    assert groups(page) == {"Today": ["Wasps", "Bees"]}


def test_a_pinned_one_stays_pinned(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(Reply("So."))
    listed(person, "Bees", days=3, pinned=True)
    old = listed(person, "Wasps", days=20, pinned=True)
    listed(person, "Ants", days=0)
    page = visit.log_in(person, f"/c/{old.pk}/")
    visit.ask("And?")
    answered(page, ["So it is.", "So."])
    assert groups(page) == {"Pinned": ["Wasps", "Bees"], "Today": ["Ants"]}


def test_going_to_another_version_or_renaming_moves_nothing(visit: Visit, person: User, stack: Stack) -> None:
    listed(person, "Bees", days=10)
    old = listed(person, "Wasps", days=20)
    page = visit.log_in(person, f"/c/{old.pk}/")
    page.get_by_role("link", name="Rename this conversation").click()
    page.get_by_label("Title").fill("Hornets")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".entry-title").last).to_have_text("Hornets")
    page.get_by_role("button", name="Previous version").click()
    answered(page, ["Because."])
    assert groups(page) == {"Older": ["Bees", "Hornets"]}


def test_the_focus_stays_on_an_entry_that_moves(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(Reply("word " * 40, chunk_delay=0.05))
    listed(person, "Bees", days=10)
    old = listed(person, "Wasps", days=20)
    page = visit.log_in(person, f"/c/{old.pk}/")
    visit.ask("And?")
    expect(page.locator(".sidebar-label").first).to_have_text("Today")
    link = page.locator(".entry-link", has_text="Wasps")
    link.focus()
    expect(page.get_by_role("button", name="Copy")).to_have_count(2)  # The reply has ended.
    expect(link).to_be_focused()


def test_one_beyond_the_end_of_the_list_comes_to_its_top(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(Reply("So."))
    for number in range(ENTRIES_A_PAGE + 20):
        active = timezone.now() - timedelta(days=30)
        make_conversation(person, title=f"Number {number}", title_source="user", last_activity_at=active)
    old = listed(person, "Wasps", days=90)
    page = visit.log_in(person, f"/c/{old.pk}/")
    expect(page.locator(".sidebar-list .entry")).to_have_count(ENTRIES_A_PAGE)
    visit.ask("And?")
    answered(page, ["So it is.", "So."])
    assert groups(page)["Today"] == ["Wasps"]
    page.locator(".sidebar-more").scroll_into_view_if_needed()
    expect(page.locator(".sidebar-list .entry")).to_have_count(ENTRIES_A_PAGE + 21)
    expect(page.locator(".sidebar-list .entry", has_text="Wasps")).to_have_count(1)


def test_an_archived_one_does_not_come_into_the_list(visit: Visit, person: User, stack: Stack) -> None:
    stack.provider.script(Reply("So."))
    listed(person, "Bees", days=0)
    old = listed(person, "Wasps", days=20)
    Conversation.objects.filter(pk=old.pk).update(archived=True)
    page = visit.log_in(person, f"/c/{old.pk}/")
    visit.ask("And?")
    answered(page, ["So it is.", "So."])
    assert groups(page) == {"Today": ["Bees"]}
