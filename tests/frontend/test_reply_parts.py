"""A page that opens mid-reply: nothing moves until the stream has told what the page already shows."""

import pytest
from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("chromium")]

TELL = """async ([shown, pieces]) => {
  const { ReplyParts } = await import("/static/js/reply-parts.js");
  const root = document.querySelector("main");
  root.textContent = "as it was";
  const parts = new ReplyParts(root, null, shown);
  const seen = [];
  for (const piece of pieces) {
    parts.append(piece);
    parts.flush();
    seen.push(root.textContent.trim());
  }
  parts.stop();
  return seen;
}"""


@pytest.mark.parametrize("text", ["Sun and sea", "🌞🌊🌞🌊"])
def test_the_page_changes_when_all_that_it_shows_was_told(tab: Page, text: str) -> None:
    """The server says how much that is in characters; an emoji is one, though it takes two units of a script's text."""
    half = len(text) // 2
    seen = tab.evaluate(TELL, [len(text), [text[:half], text[half:-1], text[-1]]])
    assert seen[:-1] == ["as it was", "as it was"]
    # The preview may keep the last character until it knows what it means.
    assert seen[-1].startswith(text[:-1])
