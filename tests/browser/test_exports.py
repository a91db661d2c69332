"""A person takes away one conversation, then everything; with a script and without."""

import json
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.cache import cache
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from accounts.models import User
from conversations.models import Conversation, Export
from tests.browser.conftest import Visit
from tests.browser.pictures import snap
from tests.conversations.transfer.rich import make_rich

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]

TITLE = "面包 خبز 🍞"


@pytest.fixture
def rich(person: User) -> Conversation:
    cache.clear()
    conversation = make_rich(person)
    Conversation.objects.filter(pk=conversation.pk).update(title=TITLE)
    return conversation


def saved(page: Page, link: str, folder: Path) -> Path:
    """What the browser keeps of a file, under the name it gives it."""
    with page.expect_download() as begun:
        page.get_by_role("link", name=link).click()
    path = folder / begun.value.suggested_filename
    begun.value.save_as(path)
    return path


def open_menu(page: Page) -> None:
    if not page.locator(".bar-export[open]").count():
        page.locator(".bar-export > summary").focus()
        page.keyboard.press("Enter")


def test_a_conversation_is_taken_away_and_opens_alone(
    visit: Visit, browser: Browser, person: User, rich: Conversation, tmp_path: Path, pictures: Path | None
) -> None:
    page = visit.log_in(person, f"/c/{rich.pk}/")
    open_menu(page)
    snap(page, pictures, "menu", again=lambda: open_menu(page))
    page.keyboard.press("Escape")
    expect(page.locator(".bar-export[open]")).to_have_count(0)
    open_menu(page)
    markdown = saved(page, "Markdown", tmp_path)
    assert markdown.name == f"{TITLE}.md"
    assert "## You" in markdown.read_text()
    open_menu(page)
    document = json.loads(saved(page, "JSON", tmp_path).read_text())
    assert document["conversation"]["id"] == str(rich.pk)
    open_menu(page)
    html = saved(page, "Web page", tmp_path)
    assert html.name == f"{TITLE}.html"
    alone = browser.new_context(offline=True, java_script_enabled=True)
    faults: list[str] = []
    try:
        file = alone.new_page()
        file.on("console", lambda line: faults.append(line.text))
        file.on("request", lambda request: faults.append(request.url) if request.url.startswith("http") else None)
        file.goto(html.as_uri())
        expect(file.get_by_role("heading", name=TITLE)).to_be_visible()
        assert file.evaluate("document.images[0].naturalWidth") == 1
        file.get_by_text("Searched this conversation").click()
        expect(file.get_by_text("1 pizza")).to_be_visible()
        snap(file, pictures, "file")
        file.emulate_media(media="print")
        if pictures:
            file.screenshot(path=f"{pictures}/file-print.png", full_page=True)
    finally:
        alone.close()
    assert faults == []


def test_everything_is_made_while_the_page_looks_on(
    visit: Visit, person: User, rich: Conversation, tmp_path: Path, pictures: Path | None
) -> None:
    now = timezone.now()
    facts = {"status": "running", "started_at": now, "lease_until": now + timedelta(hours=1), "attempts": 1}
    Export.objects.create(owner=person, total=2000, done=500, **facts)
    page = visit.log_in(person, "/data/")
    expect(page.get_by_text("500 of 2,000 messages written")).to_be_visible()
    snap(page, pictures, "progress")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Export everything").press("Enter")
    expect(page.get_by_role("link", name="Download")).to_be_visible()
    snap(page, pictures, "data")
    path = saved(page, "Download", tmp_path)
    assert path.name.startswith("pocketchat-")
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert f"conversations/00001 {TITLE}.json" in archive.namelist()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("link", name="Download")).to_have_count(0)


def test_and_without_a_script(plain_visit: Visit, person: User, rich: Conversation, tmp_path: Path) -> None:
    page = plain_visit.log_in(person, "/data/")
    page.get_by_role("button", name="Export everything").click()
    expect(page.get_by_role("link", name="Download")).to_be_visible()
    assert zipfile.is_zipfile(saved(page, "Download", tmp_path))
    page.goto(f"{plain_visit.address}/c/{rich.pk}/")
    page.locator(".bar-export > summary").click()
    assert TITLE in saved(page, "Plain text", tmp_path).read_text()
