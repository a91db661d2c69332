"""The live preview of Markdown: what it builds, and what it never builds."""

import pytest
from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("chromium")]

WRITE = """async (pieces) => {
  const { MarkdownPreview } = await import("/static/js/markdown-preview.js");
  const root = document.querySelector("main");
  const preview = new MarkdownPreview(root);
  for (const piece of pieces) preview.write(piece);
  return root.innerHTML;
}"""


def preview(tab: Page, text: str, *, size: int = 3) -> str:
    """The HTML after the text has arrived in small pieces, as a model sends it."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    html: str = tab.evaluate(WRITE, pieces)
    return html


HOSTILE = [
    "[click](javascript:alert(1)) after\n\n",
    "[click](JaVaScRiPt:alert(1)) after\n\n",
    "[click](data:text/html,<script>alert(1)</script>) after\n\n",
    "[click](/accounts/logout/) after\n\n",
    "![picture](https://example.org/secret.png) after\n\n",
    "<img src=x onerror=alert(1)> after\n\n",
    "<script>alert(1)</script> after\n\n",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe> after\n\n",
    "[![x](https://example.org/a.png)](javascript:alert(1)) after\n\n",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_is_built(tab: Page, text: str) -> None:
    html = preview(tab, text)
    assert "after" in html
    assert tab.locator("main :is(img, script, iframe, [onerror], [src])").count() == 0
    addresses = tab.evaluate("() => Array.from(document.querySelectorAll('main [href]'), (e) => e.protocol)")
    assert set(addresses) <= {"http:", "https:", "mailto:"}
    assert "/accounts/logout" not in html


def test_it_asks_for_nothing(tab: Page) -> None:
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    preview(tab, "![picture](https://example.org/secret.png)\n\n[link](https://example.org/)\n\n")
    assert all(url.startswith("http://pocketchat.test/static/") for url in asked)


def test_a_link_opens_elsewhere_and_says_nothing_of_us(tab: Page) -> None:
    html = preview(tab, "See [this](https://example.org/page).\n\n")
    assert '<a href="https://example.org/page" rel="noopener noreferrer nofollow" target="_blank">this</a>' in html


def test_code_looks_like_the_code_of_the_server(tab: Page) -> None:
    html = preview(tab, "```python\nprint('<b>')\n```\n\nafter\n\n")
    assert '<figure class="code"><figcaption><span class="code-language">python</span></figcaption>' in html
    assert "<pre dir=\"ltr\"><code>print('&lt;b&gt;')</code></pre>" in html


def test_a_table_can_be_scrolled(tab: Page) -> None:
    html = preview(tab, "| a | b |\n|---|---|\n| 1 | 2 |\n\n")
    assert '<div class="table-scroll"><table><thead>' in html


def test_headings_stand_below_those_of_the_page(tab: Page) -> None:
    assert "<h3>Title</h3>" in preview(tab, "# Title\n\ntext\n\n")


@pytest.mark.parametrize("text", ["> " * 5000 + "deep\n\n", "".join("  " * depth + "- deep\n" for depth in range(200))])
def test_text_nested_too_deeply_is_shown_as_written(tab: Page, text: str) -> None:
    preview(tab, text, size=50)
    assert "deep" in tab.inner_text("main")
    assert tab.evaluate("() => document.querySelectorAll(`main ${'* > '.repeat(60)} *`).length") == 0


@pytest.mark.parametrize("text", ["東京は大きい。", "مرحبا بالعالم", "👩‍👩‍👧‍👦 family", "naïve café"])
def test_every_script_arrives_whole_however_it_was_cut(tab: Page, text: str) -> None:
    preview(tab, text + "\n\n", size=1)
    assert tab.inner_text("main").strip() == text
