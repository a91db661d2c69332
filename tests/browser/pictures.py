"""Screenshots of what a test has before it, where POCKETCHAT_SCREENSHOTS names a folder for them."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page

SIZES = ((1280, 800), (375, 740))


def snap(page: Page, pictures: Path | None, name: str, *, again: Callable[[], object] = lambda: None) -> None:
    """At both sizes and in both schemes; at both sizes, wanted or not, nothing is wider than the page.

    `again` brings back what another size takes from the view.
    """
    # Without motion no picture shows what is half-way between two states.
    page.emulate_media(reduced_motion="reduce")
    page.wait_for_load_state()
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        again()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for scheme in ("light", "dark") if pictures else ():
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(100)
            page.screenshot(path=f"{pictures}/{name}-{width}-{scheme}.png")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    again()
