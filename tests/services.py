"""The real PostgreSQL and Valkey under the tests: started once for a run, in a folder that is thrown away afterwards.

A pytest plugin named in `addopts`, so that the environment is set before the settings are read. Each xdist worker has
a test database (pytest-django adds its name) and a Redis database of its own. `DATABASE_URL` and `REDIS_URL`, when
given, are used instead.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from pocketchat.embedded import postgres, valkey
from pocketchat.embedded.places import Places
from pocketchat.embedded.process import Command, end, spawn, wait_until

FOR_TESTS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    # Of each process that tests, two products with pools of their own.
    "max_connections": "300",
}
"""For data that is thrown away afterwards: fast, not safe."""

WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
OWN_POSTGRES = not WORKER and not os.environ.get("DATABASE_URL")
OWN_VALKEY = not WORKER and not os.environ.get("REDIS_URL")

SECOND = 8
"""The first of the Redis databases that second products use; a server has 16."""

_running = contextlib.ExitStack()


def redis_url_of(worker: str, url: str) -> str:
    """Give the worker `gwN` database N + 1; a run without workers keeps the one it was given."""
    return _redis_database(url, int(worker.removeprefix("gw")) + 1) if worker else url


def second_redis_url() -> str:
    """A database for a second product beside the first: sharing one, each would answer the other's questions."""
    return _redis_database(os.environ["REDIS_URL"], SECOND + (int(WORKER.removeprefix("gw")) if WORKER else 0))


def _redis_database(url: str, number: int) -> str:
    if url.startswith("unix:"):
        return f"{url.partition('?')[0]}?db={number}"
    return urlsplit(url)._replace(path=f"/{number}").geturl()


def _claim_environment() -> Places:
    """Set what the settings read; workers inherit it and change what is theirs alone."""
    if not WORKER:
        os.environ["POCKETCHAT_VAR"] = tempfile.mkdtemp(prefix="pocketchat-tests-")
        os.environ["POCKETCHAT_ENV_FILE"] = os.devnull
    places = Places(var=Path(os.environ["POCKETCHAT_VAR"]))
    os.environ["REDIS_URL"] = redis_url_of(WORKER, os.environ.get("REDIS_URL") or f"unix://{places.valkey_socket}?db=0")
    os.environ.setdefault("SECRET_KEY", "only for tests " + "x" * 50)
    # Test databases come and go; a pool would hold on to its connections to them.
    os.environ.setdefault("POCKETCHAT_DATABASE_POOL", "0")
    return places


PLACES = _claim_environment()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Before xdist starts its workers."""
    if session.config.option.collectonly:
        return
    if OWN_POSTGRES:
        postgres.prepare(PLACES)
        _start(
            postgres.server_command(PLACES, FOR_TESTS),
            is_ready=lambda: postgres.is_ready(PLACES),
            stop=signal.SIGINT,
        )
    if OWN_VALKEY:
        valkey.prepare(PLACES)
        _start(valkey.server_command(PLACES), is_ready=lambda: valkey.is_ready(PLACES), stop=signal.SIGTERM)


def pytest_unconfigure() -> None:
    """However the run went; servers of a killed run end by themselves."""
    _running.close()
    if not WORKER:
        shutil.rmtree(PLACES.var, ignore_errors=True)


def _start(command: Command, *, is_ready: Callable[[], bool], stop: signal.Signals) -> None:
    output = PLACES.var / f"{Path(command.argv[0]).name}.out"
    server = spawn(command, output=output)
    _running.callback(_stop, server, stop)
    if not wait_until(lambda: server.poll() is not None or is_ready(), seconds=30) or server.poll() is not None:
        pytest.exit(f"{command.argv[0]} does not start:\n{output.read_text()}", returncode=3)


def _stop(server: subprocess.Popen[bytes], number: signal.Signals) -> None:
    end(server, politely=number, grace=5)
