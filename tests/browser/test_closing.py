"""An account is closed where its owner finds it, with the password, and nothing of it is left."""

from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from accounts.models import User
from conversations.models import Conversation, Erasure, Hold
from pocketchat.embedded.process import wait_until
from tests.browser.conftest import Visit
from tests.browser.pictures import snap
from tests.factories import PASSWORD, exchange, make_conversation

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]


def test_an_account_is_closed_with_the_keyboard_alone(visit: Visit, person: User, pictures: Path | None) -> None:
    exchange(make_conversation(person, title="Bees", title_source="user"))
    hold = Hold.objects.create(user=person, reason="7/26")
    visit.log_in(person)
    page = visit.page
    visit.go("/data/")
    snap(page, pictures, "your-data")
    page.get_by_role("link", name="Close the account …").click()
    expect(page.get_by_text("An administrator holds this")).to_be_visible()
    snap(page, pictures, "close-held")

    Hold.objects.filter(pk=hold.pk).update(lifted_at=timezone.now())
    User.objects.filter(pk=person.pk).update(is_superuser=True)
    page.reload()
    expect(page.get_by_text("1 conversation with 2 messages")).to_be_visible()
    page.get_by_label("Your password").fill("guessed")
    page.keyboard.press("Enter")
    expect(page.get_by_text("This is not your password.")).to_be_visible()
    snap(page, pictures, "close-refused")

    User.objects.filter(pk=person.pk).update(is_superuser=False)
    page.evaluate("localStorage.setItem('draft:new', 'typed and not sent')")
    page.get_by_label("Your password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your account is closed")).to_be_visible()
    assert page.evaluate("localStorage.getItem('draft:new')") is None
    snap(page, pictures, "closed")
    assert wait_until(lambda: not User.objects.filter(pk=person.pk).exists(), seconds=20)
    assert wait_until(lambda: Erasure.objects.get(accounts=[person.pk]).is_verified, seconds=20)
    assert not Conversation.objects.exists()
