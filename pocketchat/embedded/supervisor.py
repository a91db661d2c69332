"""Starts the processes of the product, puts a new one in the place of one that ends, and ends them in order."""

import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from pocketchat.embedded.errors import CannotStart
from pocketchat.embedded.interruption import Interruption
from pocketchat.embedded.process import Command, complaint, end_all, kill_group, spawn, wait_until
from pocketchat.embedded.service import Service, how_it_ended, pause_before_start
from pocketchat.embedded.terminal import Terminal

LOOK_EVERY = 0.2
OUTPUT_BYTES = 2_000_000
GRACE_OF_WORK = 5.5
"""Seconds for the processes that serve people; a worker ends its replies in this time."""
GRACE_OF_DATA = 3.0
"""Seconds for PostgreSQL and Valkey, whose clients have gone by then. Both survive being killed."""


@dataclass
class _Child:
    service: Service
    process: subprocess.Popen[bytes]
    deaths: list[float] = field(default_factory=list)
    start_due: float | None = None


class Supervisor:
    def __init__(self, *, logs: Path, terminal: Terminal, interruption: Interruption) -> None:
        self._logs = logs
        self._terminal = terminal
        self._interruption = interruption
        self._children: list[_Child] = []

    def output_of(self, service: Service) -> Path:
        return self._logs / f"{service.name}.out"

    def launch(self, service: Service) -> None:
        """Start `service` for the first time, with an empty output file."""
        self.output_of(service).write_bytes(b"")
        command = service.command()
        with self._interruption.held():
            self._children.append(_Child(service, self._spawned(service, command)))

    def await_ready(self, service: Service) -> None:
        """Wait until the launched `service` answers.

        Raises:
            CannotStart: it ended, or did not answer in time.
        """
        process = next(child.process for child in self._children if child.service is service)
        if not wait_until(lambda: process.poll() is not None or service.is_ready(), seconds=service.patience):
            raise CannotStart(f"{service.title} does not answer. More in {self._logs}")
        if process.poll() is not None:
            output = self.output_of(service)
            said = complaint(output.read_text(errors="replace"))
            raise CannotStart(f"{service.title} does not start: {said} More in {output}")

    def watch(self) -> NoReturn:
        """Look after the children until interrupted.

        Raises:
            CannotStart: one of them ends again and again.
        """
        while True:
            for child in self._children:
                self._look_after(child)
            time.sleep(LOOK_EVERY)

    def stop(self) -> None:
        """End those that do the work, then those that keep the data; takes less than ten seconds."""
        self._interruption.ignore()
        if not self._children:
            return
        self._terminal.began("Stopping")
        for keeps_data, grace in ((False, GRACE_OF_WORK), (True, GRACE_OF_DATA)):
            ending = [child for child in self._children if child.service.keeps_data is keeps_data]
            end_all([(child.process, child.service.politely) for child in ending], grace=grace)
        self._terminal.ended("stopped")

    def _look_after(self, child: _Child) -> None:
        now = time.monotonic()
        if child.start_due is not None:
            if now >= child.start_due:
                self._start_again(child)
        elif (code := child.process.poll()) is not None:
            kill_group(child.process)
            child.deaths.append(now)
            self._plan_start(child, code, now=now)
        self._shorten_output(child)

    def _plan_start(self, child: _Child, code: int, *, now: float) -> None:
        pause = pause_before_start(child.deaths, now=now)
        ended = f"{child.service.title} ended ({how_it_ended(code)})"
        if pause is None:
            raise CannotStart(f"{ended} again and again, so everything stops. More in {self._logs}")
        child.start_due = now + pause
        self._terminal.line(f"{ended}; starting it again{f' in {pause:g} s' if pause else ''}.")

    def _start_again(self, child: _Child) -> None:
        command = child.service.command()
        with self._interruption.held():
            child.process = self._spawned(child.service, command)
        child.start_due = None

    def _spawned(self, service: Service, command: Command) -> subprocess.Popen[bytes]:
        return spawn(command, output=self.output_of(service), stdout_shown=service.is_heard)

    def _shorten_output(self, child: _Child) -> None:
        """Begin again when there is too much of it; the child appends, so it goes on at the new end."""
        output = self.output_of(child.service)
        if output.stat().st_size > OUTPUT_BYTES:
            output.write_bytes(b"")
