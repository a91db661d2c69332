"""The embedded PostgreSQL: made once, reached through a Unix socket in a folder nobody else can look into."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import psycopg

from pocketchat.embedded.account import Account, account_for, make_private, make_readable
from pocketchat.embedded.errors import CannotStart
from pocketchat.embedded.leftovers import end_leftovers
from pocketchat.embedded.places import Places
from pocketchat.embedded.process import Command, complaint, run
from pocketchat.embedded.wheels import postgres_files, postgres_programs

SUPERUSER = "postgres"
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "shared_buffers": "64MB",
    # A refused statement would be logged with the values it carried: what people wrote.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    # And its message may quote one of them. Whoever sent the statement logs what kind of error it was.
    "log_min_messages": "log",
    # The last statement of each connection is kept in memory: its beginning, not its values.
    "track_activity_query_size": "100",
    # What was written and is needed no more is deleted, not kept for later use (`manage.py compact`).
    "wal_recycle": "off",
    "min_wal_size": "32MB",
}


def prepare(places: Places) -> None:
    """Make the folders, and the database cluster when there is none."""
    account = account_for(places.postgres_data)
    if account is not None:
        make_readable(*postgres_files())
    make_private(places.postgres_socket_folder, account)
    if not (places.postgres_data / "PG_VERSION").exists():
        _make_cluster(places.postgres_data, account)
    end_leftovers(program="postgres", folder=places.postgres_data)
    _forget_another_process(places.postgres_data)


def server_command(places: Places, extra: Mapping[str, str] | None = None) -> Command:
    """Run the server in the foreground, as the owner of its data."""
    settings = {**SETTINGS, "unix_socket_directories": f'"{places.postgres_socket_folder}"', **(extra or {})}
    version = int((places.postgres_data / "PG_VERSION").read_text())
    return Command(
        argv=(
            str(postgres_programs(version) / "postgres"),
            "-D",
            str(places.postgres_data),
            *(f"--{name}={value}" for name, value in settings.items()),
        ),
        folder=places.postgres_data,
        account=account_for(places.postgres_data),
        when_orphaned=signal.SIGINT,
    )


def is_ready(places: Places) -> bool:
    try:
        connect(places).close()
    except psycopg.OperationalError:
        return False
    return True


def connect(places: Places, database: str = "postgres") -> psycopg.Connection:
    folder = str(places.postgres_socket_folder)
    return psycopg.connect(host=folder, user=SUPERUSER, dbname=database, connect_timeout=2, autocommit=True)


def _make_cluster(data: Path, account: Account | None) -> None:
    """Make the cluster beside its place and move it there, so that a killed start leaves no half of one.

    The collation is PostgreSQL's own: the same order on every machine and after every system upgrade.
    """
    if data.exists() and any(data.iterdir()):
        raise CannotStart(f"{data} is in the way: it is no PostgreSQL data, and what it is we do not know. Move it.")
    draft = data.with_name(f"{data.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    make_private(draft, account)
    argv = [
        str(postgres_programs() / "initdb"),
        *("--pgdata", str(draft), "--username", SUPERUSER, "--auth", "trust", "--encoding", "UTF8"),
        *("--locale", "C", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--no-instructions"),
        # One call for the file system instead of one for each of a thousand files: 0.1 s instead of 4 s.
        *(("--sync-method", "syncfs") if sys.platform == "linux" else ()),
    ]
    try:
        run(Command(tuple(argv), folder=draft, account=account))
    except subprocess.CalledProcessError as error:
        raise CannotStart(f"PostgreSQL's data cannot be made in {data}: {complaint(error.stderr)}") from error
    draft.rename(data)


def _forget_another_process(data: Path) -> None:
    """Remove the note of a killed server: its process number may belong to another program by now.

    Only after `end_leftovers`: then nobody is left whom the note could protect.
    """
    (data / "postmaster.pid").unlink(missing_ok=True)
