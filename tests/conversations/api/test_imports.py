"""Bringing in from a program."""

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import User
from conversations.models import Conversation, Import
from conversations.transfer.incoming import running
from pocketchat.embedded.places import Places
from tests.conversations.transfer.incoming import samples

ZIP = "application/zip"


@pytest.fixture(autouse=True)
def _places(settings: Settings, tmp_path: Path) -> None:
    settings.PLACES = Places(var=tmp_path)


def test_a_body_is_a_file(api: APIClient, owner: User) -> None:
    sent = samples.archive({"conversations.json": samples.sent(samples.talk())})
    made = api.post("/api/v1/imports?file_name=my.zip", sent, content_type=ZIP)
    assert (made.status_code, made.data["status"], made.data["file_name"], made.data["size"]) == (
        202,
        "queued",
        "my.zip",
        len(sent),
    )
    running.run(Import.objects.get().pk)
    told = api.get(f"/api/v1/imports/{made.data['id']}").data
    assert (told["status"], told["format"], told["imported"], told["next_after"]) == ("complete", "ChatGPT", 1, None)
    [result] = told["results"]
    assert (result["outcome"], result["title"]) == ("imported", "Bread")
    assert result["conversation"] == str(Conversation.objects.get(owner=owner).pk)
    assert api.get("/api/v1/imports").data["results"][0]["id"] == made.data["id"]


@pytest.mark.parametrize("kind", ["application/json", "application/octet-stream", "text/plain"])
def test_whatever_a_body_says_to_be(api: APIClient, owner: User, kind: str) -> None:
    made = api.post("/api/v1/imports?dry_run=true&instructions=true", b"[" + b" " * 3_000_000 + b"]", content_type=kind)
    assert (made.status_code, made.data["is_dry_run"], made.data["takes_instructions"]) == (202, True, True)
    assert Import.objects.get().size == 3_000_002


def test_a_form_may_hold_it(api: APIClient, owner: User) -> None:
    file = SimpleUploadedFile("a.json", samples.sent(samples.talk()))
    made = api.post("/api/v1/imports", {"file": file, "dry_run": "true"}, format="multipart")
    assert (made.status_code, made.data["file_name"], made.data["is_dry_run"]) == (202, "a.json", True)


def test_refusals_have_codes(api: APIClient, owner: User, settings: Settings) -> None:
    assert api.post("/api/v1/imports", b"", content_type=ZIP).data["code"] == "file_missing"
    assert api.post("/api/v1/imports", {"dry_run": "true"}, format="multipart").data["code"] == "file_missing"
    settings.POCKETCHAT_IMPORT_BYTES = 4
    too_large = api.post("/api/v1/imports", b"[    ]", content_type=ZIP)
    assert (too_large.status_code, too_large.data["code"], too_large.data["limit"]) == (413, "body_too_large", 4)
    assert api.post("/api/v1/imports?dry_run=perhaps", b"[]", content_type=ZIP).data["code"] == "invalid"
    made = api.post("/api/v1/imports", b"[]", content_type=ZIP)
    again = api.post("/api/v1/imports", b"[]", content_type=ZIP)
    assert (again.status_code, again.data["code"], again.data["import"]) == (
        409,
        "import_under_way",
        made.data["id"],
    )


def test_a_stranger_finds_nothing(api: APIClient, owner: User, stranger: User) -> None:
    made = api.post("/api/v1/imports", b"[]", content_type=ZIP).data["id"]
    theirs = APIClient()
    assert theirs.post("/api/v1/imports", b"[]", content_type=ZIP).status_code == 401
    theirs.force_authenticate(stranger)
    assert theirs.get(f"/api/v1/imports/{made}").status_code == 404
    assert theirs.delete(f"/api/v1/imports/{made}").status_code == 404
    assert theirs.get("/api/v1/imports").data["results"] == []
    assert Import.objects.count() == 1


def test_it_may_be_given_up(api: APIClient, owner: User, tmp_path: Path) -> None:
    made = api.post("/api/v1/imports", b"[]", content_type=ZIP).data["id"]
    assert api.delete(f"/api/v1/imports/{made}").status_code == 204
    assert not Import.objects.exists()
    assert not [path for path in tmp_path.rglob("imports/*/*") if path.is_file()]


def test_the_schema_tells_of_it(api: APIClient) -> None:
    paths = api.get("/api/v1/schema/?format=json").json()["paths"]
    assert set(paths["/api/v1/imports"]["post"]["requestBody"]["content"]) == {
        "application/octet-stream",
        "multipart/form-data",
    }
    assert {"get", "delete"} <= set(paths["/api/v1/imports/{import_id}"])
