"""The composer alone, from its own template, with a server that only counts."""

from typing import Any
from urllib.parse import parse_qs

import pytest
from django import forms
from django.template.loader import render_to_string
from playwright.sync_api import Page, Route

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("chromium")]

PRESS = """(values) => document.querySelector("textarea").dispatchEvent(
  new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true, ...values }))"""
KEY = "input[name=request_key]"


class AForm(forms.Form):
    text = forms.CharField(max_length=100)
    request_key = forms.CharField()
    parent = forms.CharField()


@pytest.fixture
def sent(tab: Page) -> list[dict[str, list[str]]]:
    """Every form the page has sent; the tab stands on a page with the composer."""
    forms_sent: list[dict[str, list[str]]] = []

    def receive(route: Route) -> None:
        if route.request.method == "POST":
            forms_sent.append(parse_qs(route.request.post_data or ""))
            route.fulfill(status=204)
        else:
            composer = render_to_string("conversations/_composer.html", {"composer_form": AForm(), "action": "/"})
            script = '<script type="module" src="/static/js/app.js"></script>'
            route.fulfill(
                body=f'<!doctype html><html lang="en"><title>Test</title><p data-announcer></p>{composer}{script}',
                content_type="text/html",
            )

    tab.route("http://pocketchat.test/", receive)
    tab.reload()
    return forms_sent


def settled(tab: Page, sent: list[dict[str, list[str]]]) -> list[dict[str, list[str]]]:
    tab.wait_for_timeout(150)
    return sent


def test_enter_pressed_five_times_sends_once(tab: Page, sent: list[Any]) -> None:
    tab.fill("textarea", "Hello")
    for _ in range(5):
        tab.press("textarea", "Enter")
    assert [form["text"] for form in settled(tab, sent)] == [["Hello"]]


def test_shift_enter_breaks_the_line(tab: Page, sent: list[Any]) -> None:
    tab.fill("textarea", "one")
    tab.press("textarea", "Shift+Enter")
    tab.type("textarea", "two")
    assert tab.input_value("textarea") == "one\ntwo"
    assert settled(tab, sent) == []


@pytest.mark.parametrize("values", [{"isComposing": True}, {"keyCode": 229}], ids=["composing", "safari"])
def test_enter_of_an_input_method_does_not_send(tab: Page, sent: list[Any], values: dict[str, object]) -> None:
    tab.fill("textarea", "にほん")
    tab.evaluate(PRESS, values)
    assert settled(tab, sent) == []


def test_blank_text_is_not_sent(tab: Page, sent: list[Any]) -> None:
    tab.fill("textarea", "  \n ")
    tab.press("textarea", "Enter")
    assert settled(tab, sent) == []


PASTE = """(size) => {
  const data = new DataTransfer();
  data.setData("text/plain", "x".repeat(size));
  return document.querySelector("textarea").dispatchEvent(
    new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""


@pytest.mark.parametrize(("size", "is_taken"), [(1000, True), (1001, False), (20_000_000, False)])
def test_a_text_many_times_too_long_is_refused_before_it_is_laid_out(
    tab: Page, sent: list[Any], size: int, is_taken: bool
) -> None:
    tab.fill("textarea", "My draft")
    assert tab.evaluate(PASTE, size) is is_taken
    assert tab.input_value("textarea") == "My draft"
    said = tab.locator(".composer-problem").inner_text()
    assert (f"about {size:,} characters long; at most 100 are possible" in said) is not is_taken
    assert settled(tab, sent) == []


def test_what_was_typed_survives_a_reload(tab: Page, sent: list[Any]) -> None:
    tab.fill("textarea", "A long letter")
    tab.reload()
    assert tab.input_value("textarea") == "A long letter"


def test_sending_again_after_a_reload_is_the_same_attempt(tab: Page, sent: list[Any]) -> None:
    tab.fill("textarea", "Hello")
    tab.press("textarea", "Enter")
    settled(tab, sent)
    tab.reload()
    tab.press("textarea", "Enter")
    first, second = settled(tab, sent)
    assert first["request_key"] == second["request_key"]


def test_other_words_are_another_attempt(tab: Page, sent: list[Any]) -> None:
    tab.fill("textarea", "Hello")
    tab.press("textarea", "Enter")
    settled(tab, sent)
    key = tab.input_value(KEY)
    tab.reload()
    assert tab.input_value(KEY) == key
    tab.fill("textarea", "Good evening")
    assert tab.input_value(KEY) != key


def test_the_count_appears_near_the_limit(tab: Page, sent: list[Any]) -> None:
    tab.fill("textarea", "x" * 80)
    assert tab.locator("[data-count]").is_hidden()
    tab.fill("textarea", "x" * 101)
    assert tab.inner_text("[data-count]") == "101 of 100 characters"


def test_too_long_a_text_is_not_cut(tab: Page, sent: list[Any]) -> None:
    tab.fill("textarea", "x" * 150)
    tab.press("textarea", "Enter")
    assert settled(tab, sent)[0]["text"] == ["x" * 150]
