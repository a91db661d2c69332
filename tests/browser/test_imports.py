"""A person brings their conversations in, and goes on with one."""

from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, expect

from accounts.models import User
from conversations.models import Import
from tests.browser.conftest import Visit
from tests.browser.pictures import snap
from tests.conversations.transfer.incoming import samples
from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.django_db(transaction=True)]


def export() -> bytes:
    """Three conversations, of which one is the same as another, and one is empty."""
    named = samples.talk() | {"title": "Bread, and what it is made of"}
    empty = samples.chatgpt(samples.node("root", None), title="Nothing", conversation_id="empty")
    parts = {"conversations-000.json": samples.sent(named, empty), "conversations-001.json": samples.sent(named)}
    return samples.archive({**parts, "file-Ab1-cat.png": samples.PNG})


def test_from_the_file_to_the_next_question(visit: Visit, person: User, stack: Stack, pictures: Path | None) -> None:
    page = visit.log_in(person, "/data/")
    send = page.get_by_role("button", name="Import", exact=True)
    page.get_by_label("File", exact=True).focus()
    snap(page, pictures, "import-form")
    sent: FilePayload = {"name": "ChatGPT export.zip", "mimeType": "application/zip", "buffer": export()}
    page.get_by_label("File", exact=True).set_input_files(files=[sent])
    page.keyboard.press("Tab")
    expect(page.get_by_label("Only look")).to_be_focused()
    send.click()
    page.wait_for_url("**/data/imports/*/")
    expect(page.get_by_text("1 imported, 1 here already, 1 refused")).to_be_visible()
    expect(page.locator(".import-result")).to_have_count(3)
    snap(page, pictures, "import-outcome")
    page.get_by_role("link", name="Bread, and what it is made of").first.click()
    expect(page.get_by_text("Imported from ChatGPT").first).to_be_visible()
    snap(page, pictures, "imported-conversation")
    visit.ask("And butter?")
    expect(page.locator("article.turn")).to_have_count(3)
    expect(page.get_by_text("Imported from ChatGPT")).to_have_count(2)
    page.goto(f"{visit.address}/data/")
    snap(page, pictures, "imports-on-your-data")
    # What is wrong is said where the file is chosen.
    Import.objects.filter(owner=person).update(
        status="queued", finished_at=None, expires_at=None, seen=0, imported=0, duplicates=0, refused=0
    )
    page.get_by_label("File", exact=True).set_input_files(files=[sent])
    send.click()
    expect(page.get_by_role("alert").filter(has_text="A file of yours is being brought in.")).to_be_visible()
    snap(page, pictures, "import-refused")
    Import.objects.filter(owner=person).delete()
    visit.faults = [fault for fault in visit.faults if "409" not in fault]
