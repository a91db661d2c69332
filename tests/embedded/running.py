"""`manage.py up` as a person starts it: a process of its own, a folder of its own, nothing in the environment."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from pocketchat.embedded.listening import answers, free_port
from pocketchat.embedded.process import wait_until
from pocketchat.embedded.services import FIRST_PAGE
from tests.stack import ROOT

START_SECONDS = 120
RUNNING = "Ctrl-C stops everything."


def clean_environment(**environment: str) -> dict[str, str]:
    """This process's environment without what the tests' services put there."""
    ours = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "PYTEST_", "POCKETCHAT_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "POCKETCHAT_ENV_FILE": os.devnull, **environment}


@dataclass
class Up:
    """One start of the product."""

    process: subprocess.Popen[str]
    port: int
    output: Path

    def says(self, text: str, *, seconds: float = START_SECONDS) -> bool:
        return wait_until(lambda: text in self.output.read_text() or self.has_ended(), seconds=seconds) and (
            text in self.output.read_text()
        )

    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def answers(self, *, seconds: float = 20) -> bool:
        return wait_until(lambda: answers("127.0.0.1", self.port, FIRST_PAGE, seconds=seconds), seconds=seconds)

    def family(self) -> dict[str, psutil.Process]:
        """The children by name, as their command lines tell them."""
        found = {}
        for child in psutil.Process(self.process.pid).children():
            with contextlib.suppress(psutil.Error):  # It ended meanwhile.
                line = " ".join(child.cmdline())
                found.update({name: child for name, sign in SIGNS.items() if sign in line})
        return found

    def replaces(self, name: str, old: psutil.Process, *, seconds: float = 20) -> bool:
        return wait_until(lambda: self.family().get(name, old).pid != old.pid, seconds=seconds)

    def stop(self, number: signal.Signals = signal.SIGINT) -> float:
        """Ask it to end; the seconds that took."""
        began = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(timeout=30)
        return time.monotonic() - began


SIGNS = {
    "postgres": "bin/postgres -D",
    "valkey": "valkey-server",
    "model": "pocketchat.embedded.model",
    "web": "pocketchat.embedded.web",
    "replies": "--queues replies",
    "background": "--queues background",
}


@contextlib.contextmanager
def started(var: Path, **environment: str) -> Iterator[Up]:
    """Start it and do not wait; whatever is left of it at the end is killed."""
    port = free_port()
    output = var.with_name(f"{var.name}-{port}.out")
    with output.open("w") as said:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "up", "--port", str(port)],
            cwd=ROOT,
            env=clean_environment(POCKETCHAT_VAR=str(var), **environment),
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
        )
    try:
        yield Up(process, port, output)
    finally:
        process.kill()
        process.wait()


def refused(var: Path, *arguments: str, **environment: str) -> str:
    """Start what cannot start. What it says on standard error, after a look that it says it in one line."""
    ended: subprocess.CompletedProcess[str] = subprocess.run(
        [sys.executable, "manage.py", "up", *(arguments or ("--port", str(free_port())))],
        check=False,
        cwd=ROOT,
        env=clean_environment(**{"POCKETCHAT_VAR": str(var), **environment}),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    return ended.stderr.strip()


def standing_in(var: Path) -> list[Any]:
    """Processes that have to do with `var`, by their environment, their command line or their folder."""
    return [process for process in psutil.process_iter() if _concerns(process, str(var))]


def _concerns(process: psutil.Process, var: str) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return (
            process.environ().get("POCKETCHAT_VAR") == var
            or var in " ".join(process.cmdline())
            or process.cwd().startswith(var)
        )
    except psutil.Error:
        return False
