"""The database before the product starts: is it there, is it fit, and is its schema ours."""

from collections.abc import Mapping
from typing import Any

import psycopg
from django.core.management import call_command
from django.db import connections

from pocketchat.embedded import postgres
from pocketchat.embedded.errors import CannotStart
from pocketchat.embedded.places import Places

OLDEST_VERSION = 15
EXTENSION = "vector"
OLDEST_EXTENSION = (0, 7)
"""The first that knows vectors of half precision."""
CONNECT_SECONDS = 5
ONE_AT_A_TIME = 7_067_246_170
"""The advisory lock that whoever migrates holds; any number that nothing else uses."""

_NAMES = {"HOST": "host", "PORT": "port", "USER": "user", "PASSWORD": "password", "NAME": "dbname"}


def connect(database: Mapping[str, Any]) -> psycopg.Connection:
    """A plain connection to what Django's settings name: no pool, so no waiting when there is nobody.

    Raises:
        CannotStart: with the server's own reason.
    """
    parameters = {name: database[key] for key, name in _NAMES.items() if database.get(key)}
    options = {name: value for name, value in (database.get("OPTIONS") or {}).items() if name != "pool"}
    try:
        return psycopg.connect(**{"connect_timeout": CONNECT_SECONDS, **parameters, **options}, autocommit=True)
    except psycopg.Error as error:
        raise CannotStart(f"The database of DATABASE_URL cannot be used: {_reason(error)}") from error


def expect_fit(connection: psycopg.Connection) -> None:
    """Refuse a server that is too old, one without pgvector, and one whose pgvector is too old.

    Raises:
        CannotStart: one of these is so.
    """
    version = connection.info.server_version // 10_000
    if version < OLDEST_VERSION:
        raise CannotStart(
            f"The database of DATABASE_URL is PostgreSQL {version}; PocketChat needs {OLDEST_VERSION} or newer."
        )
    query = "SELECT coalesce(installed_version, default_version) FROM pg_available_extensions WHERE name = %s"
    row = connection.execute(query, [EXTENSION]).fetchone()
    if row is None:
        raise CannotStart(
            f"The database server of DATABASE_URL lacks the extension {EXTENSION}: "
            f"install pgvector there (on Debian the package postgresql-{version}-pgvector)."
        )
    if tuple(int(part) for part in row[0].split(".")[:2]) < OLDEST_EXTENSION:
        oldest = ".".join(map(str, OLDEST_EXTENSION))
        raise CannotStart(
            f"The database server of DATABASE_URL has pgvector {row[0]}; PocketChat needs {oldest} or newer. Where a "
            f"newer one is installed, a superuser has it used with: ALTER EXTENSION {EXTENSION} UPDATE."
        )


def ensure_database(places: Places, name: str) -> None:
    """Make the database in the embedded server when it is not there."""
    with postgres.connect(places) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
            connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(name)))


def migrate(database: Mapping[str, Any]) -> None:
    """Bring the schema up to date; who comes second waits, and finds it done.

    Raises:
        CannotStart: it cannot be done.
    """
    with connect(database) as turn_taker:
        turn_taker.execute("SELECT pg_advisory_lock(%s)", [ONE_AT_A_TIME])
        try:
            call_command("migrate", verbosity=0, interactive=False)
        except Exception as error:  # Whatever it is, here is the one who is told.
            raise CannotStart(f"The database cannot be brought up to date: {_reason(error)}") from error


def disconnect() -> None:
    """Leave no connection, and no thread of a pool, behind in the supervisor."""
    for connection in connections.all(initialized_only=True):
        connection.close()
        connection.close_pool()  # type: ignore[attr-defined]  # PostgreSQL's


def _reason(error: Exception) -> str:
    """The server's last word of several lines: with more than one address each had its try."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("\t")]
    said = next((line for line in lines if "FATAL:" in line), lines[0] if lines else type(error).__name__)
    return said if said.endswith(("?", ".")) else f"{said}."
