"""Exports of everything from the pages and the API: one's own alone, one at a time, few a day."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import User
from conversations import tasks
from conversations.models import Export, TaskRun
from conversations.transfer import exports, files
from tests.conversations.transfer.sent import body_of

pytestmark = pytest.mark.django_db

LIST = reverse("conversations:api:exports")
PAGE = reverse("conversations:data")
PARTIAL = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def _own_folder(settings: Settings, tmp_path: Path) -> None:
    settings.PLACES = type(settings.PLACES)(var=tmp_path)
    cache.clear()


def one(export: Any, name: str = "export") -> str:
    return reverse(f"conversations:api:{name}", args=[export.pk])


def make_ready(owner: User, content: bytes = b"PK", **fields: object) -> Export:
    """A finished export, whatever is in its file."""
    now = timezone.now()
    facts: dict[str, Any] = {"status": "ready", "finished_at": now, "expires_at": now + timedelta(days=7)} | fields
    export: Export = Export.objects.create(owner=owner, size=len(content), **facts)
    path = files.path_of(owner.pk, export.pk)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return export


def test_an_export_is_asked_for_watched_and_deleted(api: APIClient) -> None:
    response = api.post(LIST)
    assert response.status_code == 202
    told = response.json()
    assert (told["status"], told["done"], told["total"], told["size"]) == ("queued", 0, 0, None)
    export = Export.objects.get()
    assert api.get(one(export)).json() == told
    assert api.get(LIST).json() == {"results": [told]}
    refused = api.get(one(export, "download_export"))
    assert (refused.status_code, refused.json()["code"], refused.json()["status"]) == (
        409,
        "export_not_ready",
        "queued",
    )
    assert api.delete(one(export)).status_code == 204
    assert not Export.objects.exists()
    assert api.get(one(export)).status_code == 404


def test_one_is_made_at_a_time(api: APIClient, stranger: User) -> None:
    first = api.post(LIST).json()
    again = api.post(LIST)
    assert (again.status_code, again.json()["code"], again.json()["export"]) == (409, "export_under_way", first["id"])
    assert exports.request(stranger, now=timezone.now())


def test_few_are_made_a_day(api: APIClient, stranger: User) -> None:
    for _ in range(exports.MOST_A_DAY):
        api.delete(one(Export(pk=api.post(LIST).json()["id"])))
    refused = api.post(LIST)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_exports")
    assert refused.json()["limit"] == exports.MOST_A_DAY
    assert "6 times a day" in refused.json()["detail"]
    assert exports.request(stranger, now=timezone.now())


@pytest.mark.parametrize("through", ["page", "api"])
def test_an_owner_downloads_it(page: Client, api: APIClient, owner: User, through: str) -> None:
    export = make_ready(owner, b"PK" * 100_000)
    url = reverse("conversations:download_export", args=[export.pk])
    response: Any = page.get(url) if through == "page" else api.get(one(export, "download_export"))
    assert response.status_code == 200
    assert response["Content-Type"] == "application/zip"
    assert response["Content-Length"] == "200000"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Disposition"] == f'attachment; filename="pocketchat-{export.created_at:%Y-%m-%d}.zip"'
    assert response.is_async
    assert body_of(response) == b"PK" * 100_000


def test_a_stranger_finds_none_of_it(owner: User, stranger: User, client: Client) -> None:
    export = make_ready(owner)
    program = APIClient()
    program.force_authenticate(stranger)
    client.force_login(stranger)
    assert program.get(LIST).json() == {"results": []}
    assert program.get(one(export)).status_code == 404
    assert program.get(one(export, "download_export")).status_code == 404
    assert program.delete(one(export)).status_code == 404
    assert client.get(reverse("conversations:download_export", args=[export.pk])).status_code == 404
    assert client.post(reverse("conversations:remove_export", args=[export.pk])).status_code == 404
    assert "Download" not in client.get(PAGE).content.decode()
    assert Export.objects.filter(pk=export.pk).exists()
    assert files.path_of(owner.pk, export.pk).exists()


def test_who_is_not_logged_in_is_asked_to(owner: User) -> None:
    export = make_ready(owner)
    assert APIClient().post(LIST).status_code == 401
    assert APIClient().get(one(export, "download_export")).status_code == 401
    assert Client().get(reverse("conversations:download_export", args=[export.pk])).status_code == 302
    assert Client().post(reverse("conversations:make_export")).status_code == 302


def test_what_has_expired_is_gone_though_its_file_is_still_there(api: APIClient, page: Client, owner: User) -> None:
    export = make_ready(owner, expires_at=timezone.now() - timedelta(seconds=1))
    assert api.get(one(export)).status_code == 404
    assert api.get(one(export, "download_export")).status_code == 404
    assert page.get(reverse("conversations:download_export", args=[export.pk])).status_code == 404
    assert api.get(LIST).json() == {"results": []}


def test_a_file_that_is_missing_is_said_to_be(api: APIClient, page: Client, owner: User) -> None:
    export = make_ready(owner)
    files.path_of(owner.pk, export.pk).unlink()
    refused = api.get(one(export, "download_export"))
    assert (refused.status_code, refused.json()["code"]) == (410, "export_gone")
    shown = page.get(reverse("conversations:download_export", args=[export.pk]))
    assert shown.status_code == 410
    assert "no longer there" in shown.content.decode()


def test_the_page_works_without_a_script(page: Client, owner: User) -> None:
    assert "Export everything" in page.get(PAGE).content.decode()
    response = page.post(reverse("conversations:make_export"))
    assert response.status_code == 302
    assert response["Location"] == f"{PAGE}#data-export"
    waiting = page.get(PAGE).content.decode()
    assert "Waiting for a worker" in waiting
    assert 'http-equiv="refresh"' in waiting
    assert "Export everything" not in waiting
    # Pressed twice, it shows the one that is being made.
    page.post(reverse("conversations:make_export"))
    export = Export.objects.get()
    page.post(reverse("conversations:remove_export", args=[export.pk]))
    assert "Export everything" in page.get(PAGE).content.decode()
    ready = make_ready(owner)
    shown = page.get(PAGE).content.decode()
    assert reverse("conversations:download_export", args=[ready.pk]) in shown
    assert 'http-equiv="refresh"' not in shown


def test_the_section_follows_while_one_is_made(page: Client, owner: User) -> None:
    section = reverse("conversations:exports")
    assert 'hx-trigger="every' not in page.get(section, headers=PARTIAL).content.decode()
    begun = page.post(reverse("conversations:make_export"), headers=PARTIAL).content.decode()
    assert 'hx-trigger="every 2s"' in begun
    assert "<html" not in begun
    export = exports.claim(Export.objects.get().pk, now=timezone.now())
    assert export is not None
    assert "Looking at what there is" in page.get(section, headers=PARTIAL).content.decode()
    exports.tell(export, now=timezone.now(), total=2000, done=500)
    shown = page.get(section, headers=PARTIAL).content.decode()
    assert "500 of 2,000 messages written" in shown
    assert 'value="500"' in shown
    exports.fail(export, "disk_full", now=timezone.now())
    failed = page.get(section, headers=PARTIAL).content.decode()
    assert "no room for the file" in failed
    assert "Export everything" in failed


def test_a_refusal_stands_in_the_section_and_on_the_page(page: Client) -> None:
    for _ in range(exports.MOST_A_DAY):
        page.post(reverse("conversations:make_export"), headers=PARTIAL)
        Export.objects.all().delete()
    assert "6 times a day" in page.post(reverse("conversations:make_export"), headers=PARTIAL).content.decode()
    assert "6 times a day" in page.post(reverse("conversations:make_export"), follow=True).content.decode()


def test_queries_of_the_page_do_not_grow_with_the_exports(page: Client, owner: User) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert page.get(PAGE).status_code == 200
        return len([query for query in asked if "conversations_export" in query["sql"]])

    make_ready(owner)
    assert queries() == 1
    for _ in range(5):
        make_ready(owner)
    assert queries() == 1


def test_what_conversations_are_in_it_is_not_read_to_show_it(page: Client, owner: User) -> None:
    make_ready(owner)
    with CaptureQueriesContext(connection) as asked:
        page.get(PAGE)
    [sql] = [query["sql"] for query in asked if "conversations_export" in query["sql"]]
    assert '"conversations_export"."conversations"' not in sql


def test_the_menu_of_a_conversation_offers_every_format(page: Client, conversation: Any) -> None:
    html = page.get(reverse("conversations:conversation", args=[conversation.pk])).content.decode()
    for name in ("markdown", "html", "text", "json"):
        assert reverse("conversations:export_conversation", args=[conversation.pk, name]) in html


def test_the_database_keeps_the_promises_of_an_export(owner: User) -> None:
    Export.objects.create(owner=owner)
    _refused(owner, "one_export_under_way_per_owner", {})
    Export.objects.all().delete()
    ended = {"finished_at": timezone.now(), "expires_at": timezone.now()}
    _refused(owner, "export_status_is_known", {"status": "asleep"} | ended)
    _refused(owner, "export_ends_and_expires_exactly_when_not_under_way", {"status": "ready", "size": 1})
    _refused(owner, "export_ends_and_expires_exactly_when_not_under_way", ended)
    _refused(owner, "export_has_a_lease_exactly_while_it_is_running", {"status": "running"})
    _refused(owner, "export_has_a_size_exactly_when_it_is_ready", {"status": "ready"} | ended)
    _refused(owner, "export_says_why_exactly_when_it_failed", {"status": "failed"} | ended)
    _refused(owner, "export_has_done_at_most_its_total", {"done": 1})


def _refused(owner: User, constraint: str, row: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Export.objects.create(owner=owner, **row)


def test_the_admin_sees_that_there_are_exports_and_nothing_in_them(client: Client, owner: User, stranger: User) -> None:
    export = make_ready(owner, conversations=[uuid4()])
    User.objects.filter(pk=stranger.pk).update(is_staff=True, is_superuser=True)
    stranger.refresh_from_db()
    client.force_login(stranger)
    shown = [
        client.get(reverse("admin:conversations_export_changelist")),
        client.get(reverse("admin:conversations_export_change", args=[export.pk])),
    ]
    assert [page.status_code for page in shown] == [200, 200]
    assert all(str(export.conversations[0]) not in page.content.decode() for page in shown)
    assert client.post(reverse("admin:conversations_export_delete", args=[export.pk])).status_code == 403


def test_what_tending_does_is_told_to_the_administrator(owner: User) -> None:
    make_ready(owner, expires_at=timezone.now() - timedelta(seconds=1))
    tasks.tend_exports()
    assert not Export.objects.exists()
    assert TaskRun.objects.get(task="tend_exports").did["expired"] == 1


def test_exports_are_looked_after_without_anybody_asking(settings: Settings) -> None:
    assert "conversations.tend_exports" in [one["task"] for one in settings.CELERY_BEAT_SCHEDULE.values()]
