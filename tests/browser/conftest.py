"""A real browser on the running product."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page

from accounts.models import User
from tests.factories import make_user
from tests.stack import Stack

SECONDS = 10


class Visit:
    """One person's browser, and what went wrong in it."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.context = context
        self.address = address
        self.faults: list[str] = []
        self.elsewhere: list[str] = []
        context.set_default_timeout(SECONDS * 1000)
        context.on("page", self._listen)
        self.page: Page = context.new_page()

    def _listen(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda line: self.faults.append(line.text) if line.type == "error" else None)
        page.on("request", lambda request: self._check(request.url))

    def _check(self, url: str) -> None:
        if not url.startswith((self.address, "data:", "blob:", "about:")):
            self.elsewhere.append(url)

    def go(self, path: str = "/") -> Page:
        self.page.goto(self.address + path)
        return self.page

    def log_in(self, user: User, path: str = "/") -> Page:
        """With the cookie of a log-in; its form is tried by those who come without one."""
        client = Client()
        client.force_login(user)
        name = settings.SESSION_COOKIE_NAME
        self.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": self.address}])
        return self.go(path)

    def ask(self, text: str) -> None:
        box = self.page.get_by_label("Message", exact=True)
        box.fill(text)
        box.press("Enter")


@pytest.fixture
def person(stack: Stack) -> User:
    return make_user("reader@example.org")


@pytest.fixture
def visit(browser: Browser, stack: Stack) -> Iterator[Visit]:
    """A browser on the running product; it must log no error and ask nobody else for anything."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    visit = Visit(context, stack.url())
    yield visit
    context.close()
    assert visit.elsewhere == []
    assert visit.faults == []


@pytest.fixture
def plain_visit(browser: Browser, stack: Stack) -> Iterator[Visit]:
    """The same without JavaScript."""
    context = browser.new_context(java_script_enabled=False)
    visit = Visit(context, stack.url())
    yield visit
    context.close()
    assert visit.elsewhere == []


@pytest.fixture
def pictures(request: pytest.FixtureRequest) -> Path | None:
    """Where screenshots are kept, when POCKETCHAT_SCREENSHOTS names a folder."""
    folder = os.environ.get("POCKETCHAT_SCREENSHOTS")
    return Path(folder) if folder else None
