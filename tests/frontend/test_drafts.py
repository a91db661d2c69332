"""Drafts in the browser: kept while unsent, gone once the page shows that they arrived."""

import pytest
from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("chromium")]

CALL = """async ([name, ...values]) => {
  const drafts = await import("/static/js/drafts.js");
  return drafts[name](...values);
}"""


LOG_OUT = """async () => {
  const { keepDraft } = await import("/static/js/drafts.js");
  addEventListener("pagehide", () => keepDraft("1:a", "secret"));
  const form = document.createElement("form");
  form.dataset.forgetsDrafts = "";
  form.action = "/out";
  document.body.append(form);
  form.requestSubmit();
}"""


def call(tab: Page, name: str, *values: object) -> object:
    return tab.evaluate(CALL, [name, *values])


def test_a_draft_survives_a_reload(tab: Page) -> None:
    call(tab, "keepDraft", "1:new", "Dear all", "key-1")
    tab.reload()
    draft = call(tab, "draftOf", "1:new")
    assert isinstance(draft, dict)
    assert (draft["text"], draft["sentAs"]) == ("Dear all", "key-1")


def test_each_conversation_has_its_own(tab: Page) -> None:
    call(tab, "keepDraft", "1:a", "for a")
    assert call(tab, "draftOf", "1:b") is None


def test_an_old_draft_is_forgotten(tab: Page) -> None:
    tab.evaluate("localStorage.setItem('draft:1:a', JSON.stringify({ text: 'old', at: Date.now() - 31 * 86400000 }))")
    tab.reload()
    assert call(tab, "draftOf", "1:a") is None


@pytest.mark.parametrize(("sent_as", "has_arrived"), [("key-1", True), ("", False)])
def test_only_what_was_sent_can_have_arrived(tab: Page, sent_as: str, has_arrived: bool) -> None:
    tab.evaluate("document.querySelector('main').innerHTML = '<div class=\"prompt-text\"><p>Dear  all</p></div>'")
    assert call(tab, "hasArrived", {"text": "Dear\nall", "sentAs": sent_as}) is has_arrived


def test_other_words_have_not_arrived(tab: Page) -> None:
    tab.evaluate("document.querySelector('main').innerHTML = '<div class=\"prompt-text\"><p>Dear all</p></div>'")
    assert call(tab, "hasArrived", {"text": "Dear Ann", "sentAs": "key-1"}) is False


def test_logging_out_leaves_none_behind(tab: Page) -> None:
    call(tab, "keepDraft", "1:a", "secret")
    with tab.expect_navigation(url="**/out?"):
        tab.evaluate(LOG_OUT)
    assert call(tab, "draftOf", "1:a") is None
