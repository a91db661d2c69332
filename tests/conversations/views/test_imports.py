"""Bringing in from the page, without a script."""

import re
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User
from conversations.models import Conversation, Import
from conversations.transfer.incoming import imports, running
from pocketchat.embedded.places import Places
from tests.conversations.transfer.incoming import samples


@pytest.fixture(autouse=True)
def _places(settings: Settings, tmp_path: Path) -> None:
    settings.PLACES = Places(var=tmp_path)


def send(page: Client, content: bytes, name: str = "export.zip", **told: str) -> str:
    """Where the page leads."""
    response = page.post("/data/imports/", {"file": SimpleUploadedFile(name, content), **told})
    assert response.status_code == 302
    return str(response.headers["Location"])


def brought_in(user: User, content: bytes) -> Import:
    run = imports.take(user, [content], file_name="export.zip", now=timezone.now())
    running.run(run.pk)
    run.refresh_from_db()
    return run


def test_a_file_is_sent_and_told_of(page: Client, owner: User) -> None:
    where = send(page, samples.sent(samples.talk()), '../<b>"my\u202efile.json')
    run = Import.objects.get(owner=owner)
    assert where == f"/data/imports/{run.pk}/"
    assert (run.status, run.file_name, run.is_dry_run, run.takes_instructions) == (
        "queued",
        '<b>"myfile.json',
        False,
        False,
    )
    assert "Waiting for a worker" in page.get(where).content.decode()
    running.run(run.pk)
    told = page.get(where).content.decode()
    assert "1 imported, 0 here already, 0 refused" in re.sub(r"\s+", " ", told)
    assert "&lt;b&gt;&quot;myfile.json" in told
    assert f"/c/{Conversation.objects.get(owner=owner).pk}/" in told
    assert "export.zip" not in page.get("/data/").content.decode()
    assert "&lt;b&gt;" in page.get("/data/").content.decode()


def test_choices_of_the_form_are_kept(page: Client, owner: User) -> None:
    send(page, b"[]", dry_run="on", instructions="on")
    run = Import.objects.get(owner=owner)
    assert (run.is_dry_run, run.takes_instructions) == (True, True)


def test_one_at_a_time(page: Client, owner: User, tmp_path: Path) -> None:
    send(page, b"[]")
    again = page.post("/data/imports/", {"file": SimpleUploadedFile("b.json", b"[]")}, follow=True)
    assert "A file of yours is being brought in." in again.content.decode()
    assert Import.objects.count() == 1
    assert len([path for path in tmp_path.rglob("imports/*/*") if path.is_file()]) == 1


def test_nothing_empty_and_nothing_too_large_is_kept(
    page: Client, owner: User, settings: Settings, tmp_path: Path
) -> None:
    settings.POCKETCHAT_IMPORT_BYTES = 10
    for content, words in ((b"", "Choose a file"), (b"x" * 11, "larger than 10 bytes")):
        told = page.post("/data/imports/", {"file": SimpleUploadedFile("a.json", content)}, follow=True)
        assert words in told.content.decode()
    assert (
        words
        in page.post(
            "/data/imports/",
            {"file": SimpleUploadedFile("a", b"x" * 11)},
            headers={"X-Requested-With": "XMLHttpRequest"},
        ).content.decode()
    )
    assert "Choose a file" in page.post("/data/imports/", {}, follow=True).content.decode()
    assert not Import.objects.exists()
    assert not [path for path in tmp_path.rglob("imports/*") if path.is_file()]


def test_a_day_has_an_end(page: Client, owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "MOST_A_DAY", 0)
    told = page.post("/data/imports/", {"file": SimpleUploadedFile("a.json", b"[]")}, follow=True)
    assert "0 files can be brought in a day" in told.content.decode()


def test_a_stranger_sees_and_removes_nothing(client: Client, owner: User, stranger: User) -> None:
    run = brought_in(owner, samples.sent(samples.talk()))
    client.force_login(stranger)
    assert client.get(f"/data/imports/{run.pk}/").status_code == 404
    assert client.post(f"/data/imports/{run.pk}/remove/").status_code == 404
    assert "export.zip" not in client.get("/data/").content.decode()
    client.logout()
    assert client.get(f"/data/imports/{run.pk}/").status_code == 302
    assert client.post("/data/imports/", {"file": SimpleUploadedFile("a", b"x")}).status_code == 302
    assert Import.objects.count() == 1


def test_a_list_is_forgotten_and_what_was_brought_in_stays(page: Client, owner: User) -> None:
    run = brought_in(owner, samples.sent(samples.talk()))
    page.post(f"/data/imports/{run.pk}/remove/")
    assert not Import.objects.exists()
    assert Conversation.objects.filter(owner=owner).exists()


def test_titles_are_those_of_now_and_only_of_what_may_be_seen(page: Client, owner: User) -> None:
    run = brought_in(owner, samples.sent(samples.talk()))
    Conversation.objects.filter(owner=owner).update(title="Renamed", title_source="user")
    assert "Renamed" in page.get(f"/data/imports/{run.pk}/").content.decode()
    Conversation.objects.filter(owner=owner).update(trashed_at=timezone.now())
    told = page.get(f"/data/imports/{run.pk}/").content.decode()
    assert "Renamed" not in told
    assert "/c/" not in told


def test_queries_of_the_pages_do_not_grow(page: Client, owner: User) -> None:
    def queries(count: int) -> tuple[int, int]:
        many = [
            samples.chatgpt(samples.node("q", None, "user", f"{n}"), conversation_id=f"{count}-{n}")
            for n in range(count)
        ]
        run = brought_in(owner, samples.sent(*many))
        with CaptureQueriesContext(connection) as one:
            page.get(f"/data/imports/{run.pk}/")
        with CaptureQueriesContext(connection) as all_of_them:
            page.get("/data/")
        return len(one), len(all_of_them)

    assert queries(1) == queries(120)


def test_long_lists_come_a_page_at_a_time(page: Client, owner: User) -> None:
    many = [
        samples.chatgpt(samples.node("q", None, "user", f"{n}"), conversation_id=str(n), title=f"T{n}.")
        for n in range(101)
    ]
    run = brought_in(owner, samples.sent(*many))
    first, second = (page.get(f"/data/imports/{run.pk}/?after={n}").content.decode() for n in (0, 100))
    assert ("T99." in first, "T100." in first, "?after=100" in first) == (True, False, True)
    assert ("T100." in second, "?after=" in second) == (True, False)


def test_what_was_brought_in_is_shown_as_that(page: Client, owner: User) -> None:
    brought_in(owner, samples.sent(samples.talk()))
    conversation = Conversation.objects.get(owner=owner)
    told = page.get(f"/c/{conversation.pk}/").content.decode()
    assert "Imported from ChatGPT" in told
    assert "gpt-4o" in told


def test_markup_in_a_file_is_only_text(page: Client, owner: User) -> None:
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>[x](javascript:alert(3))"
    nodes = (samples.node("q", None, "user", evil), samples.node("a", "q", "assistant", evil))
    run = brought_in(owner, samples.sent(samples.chatgpt(*nodes, title=evil)))
    conversation = Conversation.objects.get(owner=owner)
    for address in (f"/c/{conversation.pk}/", f"/data/imports/{run.pk}/"):
        told = page.get(address).content.decode()
        assert "<img src=x" not in told
        assert "<script>alert" not in told
        assert 'href="javascript' not in told
