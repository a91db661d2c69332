"""What keeps the product from starting is said in one line, without a traceback, and with exit code 1."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings as ours
from django.db import connection
from pytest_django import Settings

from pocketchat.embedded import database
from pocketchat.embedded.errors import CannotStart
from pocketchat.embedded.listening import free_port
from pocketchat.embedded.product import Address, expect_protected
from tests.embedded.running import refused

LONG_KEY = "k" * 60


@pytest.fixture
def var(tmp_path: Path) -> Path:
    return tmp_path / "var"


def test_a_taken_port(var: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said = refused(var, "--port", str(port))
    assert (
        said == f"Port {port} of 127.0.0.1 is taken by another program: choose another with --port or POCKETCHAT_PORT."
    )


def test_a_port_that_is_none(var: Path) -> None:
    assert "choose one from 1 to 65535" in refused(var, "--port", "99999")


def test_an_address_for_other_machines_without_https(var: Path) -> None:
    said = refused(var, "--host", "0.0.0.0")
    assert "set POCKETCHAT_URL=https://…" in said
    assert "POCKETCHAT_ALLOW_HTTP=true" in said
    assert refused(var, POCKETCHAT_HOST="0.0.0.0") == said


@pytest.mark.parametrize(
    ("host", "values"),
    [
        ("localhost", {}),
        ("127.0.0.2", {}),
        ("::1", {}),
        ("0.0.0.0", {"POCKETCHAT_URL": "https://chat.example.org"}),
        ("0.0.0.0", {"POCKETCHAT_ALLOW_HTTP": True}),
    ],
)
def test_an_address_that_is_protected_or_answered_for(host: str, values: dict[str, Any], settings: Settings) -> None:
    for name, value in values.items():
        setattr(settings, name, value)
    expect_protected(Address(host, 8000))


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = refused(tmp_path / "file" / "var")
    assert "cannot be written to (Not a directory)" in said
    assert "POCKETCHAT_VAR" in said


@pytest.fixture
def little_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 10 MB; only root can have one, and not everywhere."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=10m", "tmpfs", str(tmp_path)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def test_a_disk_with_too_little_room(little_disk: Path) -> None:
    said = refused(little_disk / "var")
    assert "is full: " in said
    assert "60 MB are needed" in said


def test_a_disk_without_any_room(little_disk: Path) -> None:
    free = shutil.disk_usage(little_disk).free
    (little_disk / "ballast").write_bytes(bytes(free))
    assert "cannot be written to (No space left on device)" in refused(little_disk / "var")


def test_no_secret_key_with_a_database_of_ones_own(var: Path) -> None:
    assert refused(var, DATABASE_URL="postgres://u@h/d").startswith("SECRET_KEY must be set when DATABASE_URL is")


def test_a_database_that_is_not_postgresql(var: Path) -> None:
    assert "must name a PostgreSQL database" in refused(var, DATABASE_URL="mysql://u@h/d", SECRET_KEY=LONG_KEY)


def test_a_database_that_is_not_there(var: Path) -> None:
    url = f"postgres://u:hidden@127.0.0.1:{free_port()}/d"
    said = refused(var, DATABASE_URL=url, SECRET_KEY=LONG_KEY)
    assert said.startswith("The database of DATABASE_URL cannot be used: ")
    assert "Connection refused" in said
    assert "hidden" not in said


def test_a_redis_that_is_not_there(var: Path) -> None:
    said = refused(var, REDIS_URL=f"redis://127.0.0.1:{free_port()}/0")
    assert said.startswith("The Redis or Valkey of REDIS_URL cannot be used: ")


def test_a_setting_that_cannot_be_read(var: Path) -> None:
    assert refused(var, POCKETCHAT_LEASE="soon") == "POCKETCHAT_LEASE is 'soon', which cannot be read."


def test_settings_that_cannot_be_meant(var: Path) -> None:
    said = refused(var, POCKETCHAT_URL="http://chat.example.org")
    assert said.startswith("POCKETCHAT_URL is http://chat.example.org: ")
    assert "https" in said


@pytest.mark.django_db
def test_a_database_of_another_name() -> None:
    with pytest.raises(CannotStart, match='database "nowhere" does not exist'):
        database.connect({**connection.settings_dict, "NAME": "nowhere"})


@pytest.fixture
def stranger(django_db_blocker: object) -> Iterator[str]:
    """A role that has to give a password."""
    if not ours.POCKETCHAT_EMBEDDED_DATABASE:
        pytest.skip("somebody else's server keeps its own list of who may connect how")
    name = f"stranger_{os.getpid()}"
    with database.connect({**connection.settings_dict, "NAME": "postgres"}) as server:
        server.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'right'")
        row = server.execute("SHOW hba_file").fetchone()
        assert row
        rules = Path(row[0])
        before = rules.read_text()
        rules.write_text(f"local all {name} scram-sha-256\n{before}")
        server.execute("SELECT pg_reload_conf()")
        yield name
        rules.write_text(before)
        server.execute("SELECT pg_reload_conf()")
        server.execute(f"DROP ROLE {name}")


@pytest.mark.django_db
def test_a_wrong_password(stranger: str) -> None:
    with pytest.raises(CannotStart, match=f'password authentication failed for user "{stranger}"'):
        database.connect({**connection.settings_dict, "USER": stranger, "PASSWORD": "wrong"})


@pytest.fixture
def plain(db: None) -> Iterator[psycopg.Connection]:
    with database.connect(connection.settings_dict) as plain_connection:
        yield plain_connection


def test_a_server_that_is_too_old(plain: psycopg.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "OLDEST_VERSION", 99)
    with pytest.raises(CannotStart, match="PocketChat needs 99 or newer"):
        database.expect_fit(plain)


def test_a_server_without_the_extension(plain: psycopg.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "EXTENSION", "nonesuch")
    with pytest.raises(CannotStart, match="lacks the extension nonesuch: install"):
        database.expect_fit(plain)


def test_a_server_whose_extension_is_too_old(plain: psycopg.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "OLDEST_EXTENSION", (99, 1))
    with pytest.raises(CannotStart, match=r"has pgvector 0\.\d+\.\d+; PocketChat needs 99\.1 or newer"):
        database.expect_fit(plain)


def test_a_server_as_it_should_be(plain: psycopg.Connection) -> None:
    database.expect_fit(plain)
