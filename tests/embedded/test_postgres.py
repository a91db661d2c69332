"""The embedded cluster after accidents."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pocketchat.embedded import database, postgres
from pocketchat.embedded.errors import CannotStart
from pocketchat.embedded.places import Places
from pocketchat.embedded.process import end, spawn, wait_until
from tests.services import FOR_TESTS


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    made = Places(var=tmp_path_factory.mktemp("cluster"))
    postgres.prepare(made)
    return made


@contextlib.contextmanager
def server(places: Places) -> Iterator[subprocess.Popen[bytes]]:
    process = spawn(postgres.server_command(places, FOR_TESTS), output=places.var / "postgres.out")
    try:
        assert wait_until(lambda: postgres.is_ready(places), seconds=20), (places.var / "postgres.out").read_text()
        yield process
    finally:
        end(process, politely=signal.SIGINT, grace=5)


def test_its_database_is_made_once(places: Places) -> None:
    with server(places):
        database.ensure_database(places, "pocket chat")
        database.ensure_database(places, "pocket chat")
        with postgres.connect(places, "pocket chat") as connection:
            database.expect_fit(connection)


def test_a_note_with_the_process_number_of_another_program_is_no_hindrance(places: Places) -> None:
    """As after a crash and a restart of the machine, when the number belongs to somebody else."""
    other = psutil.Process().parent() or psutil.Process()
    (places.postgres_data / "postmaster.pid").write_text(f"{other.pid}\n{places.postgres_data}\n1\n5432\n\n\n\nready\n")
    postgres.prepare(places)
    with server(places):
        assert postgres.is_ready(places)


def test_a_server_left_behind_by_a_killed_supervisor_is_ended_first(places: Places) -> None:
    with server(places) as left_behind:
        postgres.prepare(places)
        assert left_behind.wait(timeout=5) == 0
    with server(places):
        assert postgres.is_ready(places)


def test_what_somebody_wrote_is_not_logged_with_a_refused_statement(places: Places) -> None:
    with server(places), postgres.connect(places) as connection:
        for statement in ("SELECT 'a private word'::int", "INSERT INTO nowhere VALUES ('a private word')"):
            with pytest.raises(Exception, match=r"private|nowhere"):
                connection.execute(statement)
        connection.execute("CREATE TABLE once (word text PRIMARY KEY); INSERT INTO once VALUES ('a private word')")
        with pytest.raises(Exception, match="duplicate key"):
            connection.execute("INSERT INTO once VALUES ('a private word')")
        assert connection.execute("SHOW track_activity_query_size").fetchone() == ("100B",)
    said = (places.var / "postgres.out").read_text()
    assert "INSERT" not in said
    assert "private" not in said


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    places = Places(var=tmp_path)
    places.postgres_data.mkdir()
    (places.postgres_data / "diary").write_text("dear diary")
    with pytest.raises(CannotStart, match="is in the way"):
        postgres.prepare(places)
    assert (places.postgres_data / "diary").read_text() == "dear diary"


def test_data_of_a_version_that_is_not_installed_is_named(tmp_path: Path) -> None:
    places = Places(var=tmp_path)
    places.postgres_data.mkdir()
    (places.postgres_data / "PG_VERSION").write_text("12\n")
    with pytest.raises(CannotStart, match="made by PostgreSQL 12, which is not installed"):
        postgres.server_command(places)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_root_runs_it_as_the_owner_of_its_data(places: Places) -> None:
    owner = places.postgres_data.stat().st_uid
    assert owner != 0
    with server(places) as process:
        assert psutil.Process(process.pid).uids().effective == owner
