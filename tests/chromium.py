"""Chromium for the tests. Where it is missing they say how to get it; in CI, where it must be there, they fail."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.programs import program

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
EXPECT_MS = 15_000
"""A page on a busy machine takes its time."""
NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = "Chromium is not installed, and the product was not tried in a browser: apt-get install chromium"


def chromium() -> str:
    """Its path."""
    return program(*NAMES, override="POCKETCHAT_CHROMIUM", missing=MISSING)


@contextmanager
def running_chromium() -> Iterator[Browser]:
    path = chromium()
    expect.set_options(timeout=EXPECT_MS)
    with sync_playwright() as playwright, pytest.MonkeyPatch.context() as patch:
        # Playwright's loop runs in this thread; the database is only ever used between its steps.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()
