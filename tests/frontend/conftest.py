"""A browser for modules that can be tested without the server."""

import mimetypes
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route

from tests.stack import ROOT

EMPTY = '<!doctype html><html lang="en"><title>Test</title><main></main><p data-announcer></p>'


def _serve(route: Route) -> None:
    """Static files as they are, an empty page for everything else; nothing leaves the machine."""
    path = route.request.url.removeprefix("http://pocketchat.test/")
    file = ROOT / path
    if path.startswith("static/") and file.is_file():
        route.fulfill(body=file.read_bytes(), content_type=mimetypes.guess_type(file.name)[0])
    elif route.request.resource_type == "document":
        route.fulfill(body=EMPTY, content_type="text/html")
    else:
        route.abort()


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """An empty page of ours."""
    page = browser.new_page()
    page.route("**/*", _serve)
    page.goto("http://pocketchat.test/")
    yield page
    page.close()
