"""Everything as a ZIP: each conversation once, of one moment, with a list that is true."""

import hashlib
import json
import resource
import stat
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.cache import cache
from django.db import connection
from django.utils import timezone
from jsonschema import Draft202012Validator
from pytest_django import Settings

from accounts.models import User
from accounts.tokens import issue
from conversations import access
from conversations.models import Conversation, Export, Message
from conversations.transfer import everything, exports, files, making, tending
from conversations.transfer.archive import Archive
from conversations.transfer.pages import weights_of
from conversations.transfer.schema import conversation_schema
from conversations.transfer.stores import EXPORTS
from tests.conversations.transfer.rich import make_rich
from tests.conversations.transfer.test_one_conversation import make_long
from tests.factories import exchange, make_conversation, make_user
from tests.ruling import aged, rule
from tests.stack import ROOT
from tests.threads import with_own_connection

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _own_folder(settings: Settings, tmp_path: Path) -> None:
    settings.PLACES = type(settings.PLACES)(var=tmp_path)
    cache.clear()


@dataclass(frozen=True)
class Ids:
    conversations: frozenset[UUID] = frozenset()
    accounts: frozenset[int] = frozenset()


def made(owner: User) -> Export:
    """An export that a worker has made, or has failed to make."""
    export = exports.request(owner, now=timezone.now())
    making.make(export.pk)
    export.refresh_from_db()
    return export


def archive_of(export: Export) -> zipfile.ZipFile:
    return zipfile.ZipFile(files.path_of(export.owner_id, export.pk))


def documents_of(export: Export) -> list[Any]:
    with archive_of(export) as archive:
        names = [name for name in archive.namelist() if name.startswith("conversations/") and name.endswith(".json")]
        return [json.loads(archive.read(name)) for name in names]


def everyones_folder(settings: Settings) -> list[Path]:
    return [path for path in Path(settings.PLACES.exports).rglob("*") if path.is_file()]


def test_what_a_rule_ends_while_it_is_made_is_in_it(owner: User, tmp_path: Path) -> None:
    rule(idle_days=1)
    exchange(aged(owner))
    Conversation.objects.update(last_activity_at=timezone.now() - timedelta(days=1, seconds=-0.5))
    found = access.conversations_of(owner)
    weights = weights_of(found)
    time.sleep(0.6)
    assert not access.conversations_of(owner).exists()
    with (tmp_path / "all.zip").open("wb") as file, Archive(file, now=timezone.now()) as archive:
        everything.write(archive, owner, found, weights, now=timezone.now(), wrote=lambda _: None)
    assert archive.counts["conversations"] == 1


def test_everything_is_in_it_once_and_nothing_else(owner: User, stranger: User) -> None:
    make_rich(owner)
    make_conversation(owner, archived=True)
    exchange(make_conversation(stranger), "Not yours")
    binned = make_conversation(owner, trashed_at=timezone.now())
    export = made(owner)
    assert export.status == "ready"
    documents = documents_of(export)
    ids = {str(pk) for pk in Conversation.objects.filter(owner=owner, trashed_at=None).values_list("pk", flat=True)}
    assert {document["conversation"]["id"] for document in documents} == ids
    assert str(binned.pk) not in ids
    for document in documents:
        Draft202012Validator(conversation_schema()).validate(document)
    with archive_of(export) as archive:
        whole = b"".join(archive.read(name) for name in archive.namelist())
    assert b"Not yours" not in whole


def test_the_manifest_is_true(owner: User) -> None:
    make_rich(owner)
    exchange(make_conversation(owner))
    export = made(owner)
    with archive_of(export) as archive:
        assert archive.testzip() is None
        manifest = json.loads(archive.read("manifest.json"))
        listed = {one["name"]: one for one in manifest["files"]}
        assert sorted([*listed, "manifest.json"]) == sorted(archive.namelist())
        assert len(set(archive.namelist())) == len(archive.namelist())
        for name, one in listed.items():
            content = archive.read(name)
            assert (len(content), hashlib.sha256(content).hexdigest()) == (one["bytes"], one["sha256"])
        assert {"README.txt", "account.json", "conversation.schema.json"} <= set(listed)
        assert json.loads(archive.read("conversation.schema.json")) == conversation_schema()
    documents = documents_of(export)
    counts = manifest["counts"]
    assert counts["conversations"] == len(documents) == 2
    assert counts["files"] == len(listed)
    for kind in ("messages", "turns", "summaries"):
        assert counts[kind] == sum(len(document[kind]) for document in documents)
    assert (export.done, export.total) == (counts["messages"], counts["messages"])
    assert export.size == files.path_of(export.owner_id, export.pk).stat().st_size


def test_of_25_conversations_written_to_meanwhile_each_is_there_once_as_it_was(
    owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversations.transfer.pages.CONVERSATIONS_AT_ONCE", 2)
    conversations = [make_conversation(owner, title=f"Number {n}", title_source="user") for n in range(25)]
    for conversation in conversations:
        exchange(conversation, "Before")
    export = exports.claim(exports.request(owner, now=timezone.now()).pk, now=timezone.now())
    assert export is not None

    @with_own_connection
    def write_meanwhile() -> None:
        exchange(conversations[24], "Meanwhile")
        exchange(conversations[0], "Meanwhile")
        exchange(make_conversation(owner), "Meanwhile")
        Conversation.objects.filter(pk=conversations[20].pk).update(trashed_at=timezone.now())

    with _told_at(5, write_meanwhile):
        assert making._made(export) == ""
    documents = documents_of(export)
    assert sorted(document["conversation"]["id"] for document in documents) == sorted(str(c.pk) for c in conversations)
    assert all(len(document["messages"]) == 2 for document in documents)
    assert Message.objects.filter(content__0__text="Meanwhile").count() == 3


@contextmanager
def _told_at(files_written: int, act: Any) -> Iterator[None]:
    """Do something in the middle: when so many conversations are written."""
    write = everything._write_conversation
    written = 0

    def counted(*args: Any, **kwargs: Any) -> None:
        nonlocal written
        written += 1
        if written == files_written:
            with ThreadPoolExecutor(1) as other:
                other.submit(act).result()
        write(*args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(everything, "_write_conversation", counted)
        yield


def test_names_in_the_archive_are_of_any_script_and_lead_nowhere(owner: User) -> None:
    for title in ("خبز", "面包", "🍞", "../../etc/passwd", "CON", "", "面包"):
        make_conversation(owner, title=title, title_source="user" if title else "none")
    with archive_of(made(owner)) as archive:
        names = [name for name in archive.namelist() if name.endswith(".md")]
    assert names == [
        "conversations/00001 خبز.md",
        "conversations/00002 面包.md",
        "conversations/00003 🍞.md",
        "conversations/00004 etc passwd.md",
        "conversations/00005 _CON.md",
        "conversations/00006 Conversation.md",
        "conversations/00007 面包.md",
    ]


def test_no_secret_is_in_it(owner: User) -> None:
    token = issue(owner, life=timedelta(days=1))
    with archive_of(made(owner)) as archive:
        account = archive.read("account.json").decode()
    told = json.loads(account)
    assert told["email"] == owner.email
    assert token.startswith(told["api_tokens"][0]["begins_with"])
    assert token not in account
    assert owner.password not in account


def test_large_conversations_are_read_alone(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    make_rich(owner)
    light = documents_of(made(owner))
    Export.objects.all().delete()
    for name in ("MESSAGES_AT_ONCE", "BYTES_AT_ONCE"):
        monkeypatch.setattr(f"conversations.transfer.pages.{name}", 1)
    [heavy], [light_one] = documents_of(made(owner)), light
    assert heavy | {"exported_at": ""} == light_one | {"exported_at": ""}


def test_nobody_else_may_read_the_file(owner: User) -> None:
    export = made(owner)
    path = files.path_of(export.owner_id, export.pk)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.name == f"{export.pk}.zip"
    assert path.parent.name == str(owner.pk)


def test_a_full_disk_is_a_clean_failure(owner: User, settings: Settings) -> None:
    make_long(owner, rows=500)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        export = made(owner)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (export.status, export.error_code) == ("failed", "disk_full")
    assert "no room" in exports.sentence_of(export)
    assert everyones_folder(settings) == []
    assert made(owner).status == "ready"


def test_a_fault_is_a_clean_failure_and_is_not_hidden(
    owner: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(everything, "write", broken)
    export = exports.request(owner, now=timezone.now())
    with pytest.raises(ZeroDivisionError):
        making.make(export.pk)
    export.refresh_from_db()
    assert (export.status, export.error_code) == ("failed", "internal")
    assert everyones_folder(settings) == []


def test_one_that_was_deleted_meanwhile_stops_and_leaves_nothing(owner: User, settings: Settings) -> None:
    make_long(owner, rows=50)
    exchange(make_conversation(owner))
    export = exports.request(owner, now=timezone.now())

    @with_own_connection
    def delete() -> None:
        exports.remove(Export.objects.get(pk=export.pk))
        time.sleep(1.5)

    with _told_at(1, delete):
        making.make(export.pk)
    assert not Export.objects.exists()
    assert everyones_folder(settings) == []


def test_a_conversation_erased_meanwhile_does_not_come_back(owner: User, settings: Settings) -> None:
    kept, erased = make_conversation(owner), make_conversation(owner)
    exchange(kept)
    exchange(erased)

    @with_own_connection
    def erase() -> None:
        Conversation.objects.filter(pk=erased.pk).delete()

    with _told_at(2, erase):
        export = made(owner)
    assert (export.status, export.error_code) == ("failed", "erased_meanwhile")
    assert everyones_folder(settings) == []


def test_one_of_a_worker_that_was_killed_is_made_by_another(owner: User, settings: Settings, tmp_path: Path) -> None:
    make_long(owner, rows=30_000)
    export = exports.request(owner, now=timezone.now())
    worker = _worker(export.pk, tmp_path)
    try:
        part = files.path_of(owner.pk, export.pk).with_suffix(".1.part")
        deadline = time.monotonic() + 60
        while not (part.exists() and part.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert worker.poll() is None
    finally:
        worker.kill()
        worker.wait()
    export.refresh_from_db()
    assert export.status == "running"
    assert tending.tend(tending.EXPORTS, now=timezone.now()).taken_back == 0
    after = timezone.now() + exports.LEASE + timedelta(seconds=1)
    assert tending.tend(tending.EXPORTS, now=after).taken_back == 1
    assert everyones_folder(settings) == []
    assert tending.due(tending.EXPORTS, now=after) == [export.pk]
    making.make(export.pk)
    export.refresh_from_db()
    assert (export.status, export.attempts) == ("ready", 2)
    assert len(documents_of(export)[0]["messages"]) == 30_002


def _worker(export_id: UUID, var: Path) -> "subprocess.Popen[bytes]":
    """A process of its own, on the tests' database."""
    source = f"""
import os, django
os.environ["DJANGO_SETTINGS_MODULE"] = "pocketchat.settings"
django.setup()
from pathlib import Path
from django.conf import settings
from pocketchat.embedded.places import Places
settings.DATABASES["default"]["NAME"] = {connection.settings_dict["NAME"]!r}
settings.PLACES = Places(var=Path({str(var)!r}))
from uuid import UUID
from conversations.transfer import making
making.make(UUID({str(export_id)!r}))
"""
    return subprocess.Popen([sys.executable, "-c", source], cwd=ROOT)


def test_one_that_loses_all_its_workers_fails(owner: User, settings: Settings) -> None:
    export = exports.request(owner, now=timezone.now())
    now = timezone.now()
    for attempt in range(1, exports.MOST_ATTEMPTS + 1):
        claimed = exports.claim(export.pk, now=now)
        assert claimed is not None
        assert claimed.attempts == attempt
        with files.begin(claimed) as file:
            file.write(b"half")
        now += exports.LEASE + timedelta(seconds=1)
        tended = tending.tend(tending.EXPORTS, now=now)
        assert (tended.taken_back, tended.given_up) == ((1, 0) if attempt < exports.MOST_ATTEMPTS else (0, 1))
    export.refresh_from_db()
    assert (export.status, export.error_code) == ("failed", "interrupted")
    assert everyones_folder(settings) == []


def test_a_worker_that_was_given_up_publishes_nothing(owner: User) -> None:
    exchange(make_conversation(owner))
    late = exports.claim(exports.request(owner, now=timezone.now()).pk, now=timezone.now())
    assert late is not None
    after = timezone.now() + exports.LEASE + timedelta(seconds=1)
    tending.tend(tending.EXPORTS, now=after)
    making.make(late.pk)
    with pytest.raises(exports.LeaseLost):
        making._made(late)
    late.refresh_from_db()
    assert (late.status, late.attempts) == ("ready", 2)
    with archive_of(late) as archive:
        assert archive.testzip() is None


@pytest.mark.parametrize("attempts", [1, exports.MOST_ATTEMPTS])
def test_a_worker_that_renews_its_lease_in_the_last_moment_keeps_export_and_file(owner: User, attempts: int) -> None:
    export = exports.claim(exports.request(owner, now=timezone.now()).pk, now=timezone.now())
    assert export is not None
    Export.objects.update(attempts=attempts)
    export.refresh_from_db()
    after = timezone.now() + exports.LEASE + timedelta(seconds=1)
    [seen_as_lost] = Export.objects.abandoned(now=after)
    with files.begin(export) as file:
        file.write(b"PK")
        assert exports.tell(export, now=after)
        assert not exports.take_back(seen_as_lost, now=after)
        assert files.path_of(owner.pk, export.pk).with_suffix(f".{attempts}.part").exists()
    export.refresh_from_db()
    assert export.status == "running"


def test_it_is_kept_for_the_days_of_the_setting_and_no_longer(owner: User, settings: Settings) -> None:
    settings.POCKETCHAT_EXPORT_DAYS = 3
    export = made(owner)
    assert export.expires_at is not None
    assert export.finished_at is not None
    assert export.expires_at - export.finished_at == timedelta(days=3)
    assert tending.tend(tending.EXPORTS, now=export.expires_at - timedelta(seconds=1)).expired == 0
    assert files.path_of(owner.pk, export.pk).exists()
    assert tending.tend(tending.EXPORTS, now=export.expires_at).expired == 1
    assert not Export.objects.exists()
    assert everyones_folder(settings) == []


def test_files_of_an_owner_who_is_gone_are_removed(owner: User, stranger: User, settings: Settings) -> None:
    made(owner)
    kept = made(stranger)
    owner.delete()
    assert tending.tend(tending.EXPORTS, now=timezone.now()).strays == 1
    assert everyones_folder(settings) == [files.path_of(stranger.pk, kept.pk)]


def test_erasing_a_conversation_finds_the_exports_it_is_in(owner: User, stranger: User) -> None:
    conversation, other = make_conversation(owner), make_conversation(stranger)
    mine, theirs = made(owner), made(stranger)
    store = EXPORTS
    ids = Ids(conversations=frozenset([conversation.pk]))
    assert (store.find(ids), store.erase(ids), store.find(ids), store.erase(ids)) == (1, 1, 0, 0)
    assert not files.path_of(owner.pk, mine.pk).exists()
    assert list(Export.objects.all()) == [theirs]
    assert files.path_of(stranger.pk, theirs.pk).exists()
    # Rows of an account may go before its files.
    account = Ids(accounts=frozenset([stranger.pk]))
    Conversation.objects.filter(pk=other.pk).delete()
    stranger.delete()
    assert (store.find(account), store.erase(account), store.find(account)) == (1, 1, 0)
    assert not files.path_of(theirs.owner_id, theirs.pk).exists()


def test_no_more_are_made_at_once_than_there_is_room_for(owner: User, stranger: User) -> None:
    now = timezone.now()
    people = [owner, stranger, make_user()]
    asked = [exports.request(person, now=now) for person in people]
    assert [exports.claim(export.pk, now=now) is not None for export in asked] == [True, True, False]
    later = now + tending.PATIENCE + timedelta(seconds=1)
    assert tending.due(tending.EXPORTS, now=later) == []
    exports.remove(asked[0])
    assert tending.due(tending.EXPORTS, now=later) == [asked[2].pk]
    assert tending.due(tending.EXPORTS, now=now) == []
