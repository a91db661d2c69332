"""What has to find room on a phone, laid out by the product's own styles."""

from types import SimpleNamespace
from uuid import UUID

import pytest
from django.template.loader import render_to_string
from playwright.sync_api import Page

from conversations.views.meters import Divider

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("chromium")]

CONVERSATION = SimpleNamespace(id=UUID(int=1), title="Bees and wasps in the garden")
STYLES = ("tokens", "base", "layout", "components", "sidebar", "conversation", "composer", "context", "forms", "shelf")
LINES = """(text) => {
  const range = document.createRange();
  range.selectNodeContents(text);
  return new Set(Array.from(range.getClientRects(), (box) => Math.round(box.bottom / 8))).size;
}"""


def show(tab: Page, html: str) -> None:
    """On a phone."""
    links = "".join(f'<link rel="stylesheet" href="/static/css/{name}.css">' for name in STYLES)
    page = (
        f'<!doctype html><html lang="en"><head><title>Test</title>{links}</head><body class="app">{html}</body></html>'
    )
    tab.route("http://pocketchat.test/", lambda route: route.fulfill(body=page, content_type="text/html"))
    tab.set_viewport_size({"width": 375, "height": 740})
    tab.goto("http://pocketchat.test/")


@pytest.mark.parametrize("has_summary", [False, True])
@pytest.mark.parametrize("recalled", [0, 1, 12])
def test_the_line_where_the_window_begins_takes_two_lines_at_most(tab: Page, has_summary: bool, recalled: int) -> None:
    line = Divider(start=7, is_needed=True, is_shown=True, has_summary=has_summary, recalled=recalled)
    html = render_to_string("conversations/_divider.html", {"divider": line, "conversation": CONVERSATION})
    show(tab, f'<main class="main"><div class="thread">{html}</div></main>')
    assert tab.locator(".divider-text").evaluate(LINES) <= 2


@pytest.mark.parametrize("title", ["Bees", "Bees and wasps in the garden"])
@pytest.mark.parametrize("is_archived", [False, True])
def test_the_menu_of_a_conversation_is_within_the_screen(tab: Page, title: str, is_archived: bool) -> None:
    marks = {"pinned": False, "temporary": False, "kept": False, "may_be_kept": True, "archived": is_archived}
    html = render_to_string(
        "conversations/_title.html", {"conversation": SimpleNamespace(id=UUID(int=1), title=title, **marks)}
    )
    show(tab, f'<div class="stage"><header class="bar">{html}</header></div>')
    tab.get_by_label("More for this conversation").click()
    tab.evaluate("document.querySelector('.confirm').innerHTML = '<p class=\"menu-confirm\">' + 'word '.repeat(40)")
    panel = tab.locator("#conversation-menu .menu-panel").bounding_box()
    assert panel
    assert panel["x"] >= 0
    assert panel["x"] + panel["width"] <= 375


def test_a_title_has_a_line_of_its_own_while_it_is_typed(tab: Page) -> None:
    html = render_to_string("conversations/_rename.html", {"conversation": CONVERSATION, "is_partial": True})
    show(tab, f'<div class="stage"><header class="bar">{html}</header></div>')
    box = tab.locator(".rename-input").bounding_box()
    button = tab.get_by_role("button", name="Save").bounding_box()
    assert box
    assert button
    assert box["width"] > 320
    assert button["y"] >= box["y"] + box["height"]
    assert tab.evaluate("document.documentElement.scrollWidth") <= 375
