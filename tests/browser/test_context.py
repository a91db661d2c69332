"""A person sees what the model sees: the line in the thread, the meter, the panel, the menu of models."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import DjangoDbBlocker

from accounts.models import User
from conversations.models import Conversation
from tests.browser.conftest import Visit
from tests.browser.talk import talk_about_bread
from tests.browser.test_branches import snap
from tests.factories import make_conversation
from tests.provider import Reply
from tests.services import second_redis_url
from tests.stack import Stack, running_stack

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]

ROOM = 900
"""Tokens for earlier turns."""


@pytest.fixture(scope="module")
def running(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """A product of its own: with little room for earlier turns, and a second model at the same provider."""
    with django_db_blocker.unblock():
        context = running_stack(
            tmp_path_factory.mktemp("stack"),
            POCKETCHAT_LEASE="4",
            POCKETCHAT_PROVIDER_SILENCE="3",
            POCKETCHAT_HISTORY_TOKENS=str(ROOM),
            POCKETCHAT_BUNDLED_URL="http://127.0.0.1:9/v1",
            REDIS_URL=second_redis_url(),
        )
    with context as stack:
        yield stack


@pytest.fixture
def bread(person: User) -> Conversation:
    conversation = make_conversation(person, title="Sourdough at home", title_source="user")
    talk_about_bread(conversation)
    return conversation


def test_look(visit: Visit, person: User, stack: Stack, bread: Conversation, pictures: Path | None) -> None:
    stack.provider.script(
        Reply(
            "Three things, in the order of how much they matter: cold water, a shorter rise, and a dough that is a little drier."
        )
    )
    page = visit.log_in(person, f"/c/{bread.pk}/")
    snap(page, pictures, "newest")
    page.locator("#divider").scroll_into_view_if_needed()
    snap(page, pictures, "divider")
    page.get_by_label("Message", exact=True).fill("It will be 32 °C at the weekend. What should I change?")
    page.wait_for_timeout(800)
    page.locator("#meter").click()
    page.wait_for_timeout(500)
    page.screenshot(path=pictures / "panel.png")
    page.screenshot(path=pictures / "panel-full.png", full_page=True)
    page.set_viewport_size({"width": 375, "height": 800})
    page.wait_for_timeout(400)
    page.locator("#meter").click()
    page.wait_for_timeout(500)
    page.screenshot(path=pictures / "panel-375.png")
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(400)
    page.screenshot(path=pictures / "panel-375-dark.png")
