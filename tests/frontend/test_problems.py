"""What the page says by itself, when the server's answer is none that can be shown."""

import pytest
from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("chromium")]

PAGE = """document.body.innerHTML = `
  <svg class="icon"><use href="#x"></use></svg><main></main>
  <form id="composer"></form><form id="stop"></form><article></article>`"""
FETCH = """async () => {
  const { fetchTurn } = await import("/static/js/fetch-turn.js");
  return fetchTurn("/gone", document.querySelector("article"));
}"""
ANSWER = """async (id) => {
  await import("/static/js/responses.js");
  const xhr = { status: 404, responseText: "<!doctype html>", getResponseHeader: () => "text/html" };
  const elt = document.getElementById(id);
  const detail = { xhr, target: elt, requestConfig: { elt } };
  document.dispatchEvent(new CustomEvent("htmx:beforeSwap", { detail }));
}"""


@pytest.fixture
def gone(tab: Page) -> Page:
    """A page whose conversation is gone."""
    tab.route("http://pocketchat.test/gone", lambda route: route.fulfill(status=404))
    tab.evaluate(PAGE)
    return tab


def said(tab: Page) -> str:
    return tab.locator(".notice-text").inner_text()


def test_a_finished_reply_that_is_gone_is_not_called_unsent(gone: Page) -> None:
    assert gone.evaluate(FETCH) is True
    assert said(gone) == "This reply no longer exists."


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("composer", "This conversation no longer exists. Nothing was sent."),
        ("stop", "This conversation no longer exists."),
    ],
)
def test_only_a_question_is_called_unsent(gone: Page, form: str, words: str) -> None:
    gone.evaluate(ANSWER, form)
    assert said(gone) == words
