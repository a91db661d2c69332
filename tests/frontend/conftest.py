"""A browser for modules that can be tested without the server."""

import mimetypes
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, sync_playwright

from tests.stack import ROOT

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
EMPTY = '<!doctype html><html lang="en"><title>Test</title><main></main><p data-announcer></p>'


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Gone with its module: while Playwright's event loop runs, Django refuses the database to other tests."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if not path:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()


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
def tab(chromium: Browser) -> Iterator[Page]:
    """An empty page of ours."""
    page = chromium.new_page()
    page.route("**/*", _serve)
    page.goto("http://pocketchat.test/")
    yield page
    page.close()
