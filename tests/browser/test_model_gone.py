"""A person whose conversation's model is gone goes on with the installation's own, with scripts and without."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from accounts.models import User
from conversations.models import Conversation, Turn
from pocketchat.embedded.process import wait_until
from tests.browser.conftest import Visit
from tests.browser.pictures import snap
from tests.factories import exchange, make_conversation
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]


def ended(count: int) -> None:
    assert wait_until(lambda: Turn.objects.exclude(finished_at=None).count() == count, seconds=30)


@pytest.mark.parametrize("with_scripts", [True, False])
def test_the_own_model_answers_and_goes_on(
    stack: Stack,
    visit: Visit,
    plain_visit: Visit,
    person: User,
    pictures: Path | None,
    with_scripts: bool,
) -> None:
    conversation = make_conversation(person, title="Bees", title_source="user")
    exchange(conversation, "Why do bees dance?", "To tell where the flowers are.")
    Conversation.objects.update(model="nobody:gone")
    used = visit if with_scripts else plain_visit
    page = used.log_in(person, f"/c/{conversation.pk}/")
    page.get_by_role("button", name="Regenerate").click()
    offer = page.get_by_role("button", name="Answer with scripted")
    ended(2)
    if not with_scripts:
        page.reload()
    expect(offer).to_be_visible()
    expect(page.get_by_text("To tell where the flowers are.")).to_be_visible()
    if with_scripts:
        snap(page, pictures, "model-gone")
    offer.click()
    page.wait_for_url(f"**/c/{conversation.pk}/*")
    expect(page.locator(".composer-model")).to_have_text("scripted")
    conversation.refresh_from_db()
    assert conversation.model == ""
    ended(3)
    page.reload()
    expect(page.locator(".versions-count").last).to_contain_text("2")
