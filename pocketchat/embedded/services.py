"""The processes of the product, each with how it is started and how it is seen to be ready."""

import signal
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pocketchat.embedded import listening, postgres, valkey
from pocketchat.embedded.places import Places
from pocketchat.embedded.process import Command
from pocketchat.embedded.service import Service
from pocketchat.embedded.wheels import bundled_weights

ROOT = Path(__file__).resolve().parent.parent.parent
FIRST_PAGE = "/accounts/login/"
FIRST_PAGE_SECONDS = 3.0
"""The first request loads what a page needs; asking again before it is done would only make it take longer."""
WORKER = ("-m", "celery", "--quiet", "-A", "pocketchat", "worker", "--pool", "threads")
ALONE = ("--without-gossip", "--without-mingle", "--without-heartbeat")
REPLIES_AT_ONCE = 200
"""Threads; each waits for its reply in the one event loop."""
BACKGROUND_AT_ONCE = 4


def database(places: Places) -> Service:
    def command() -> Command:
        postgres.prepare(places)
        return postgres.server_command(places)

    return Service(
        name="postgres",
        title="PostgreSQL",
        command=command,
        is_ready=lambda: postgres.is_ready(places),
        politely=signal.SIGINT,
        keeps_data=True,
    )


def queue(places: Places) -> Service:
    def command() -> Command:
        valkey.prepare(places)
        return valkey.server_command(places)

    return Service(
        name="valkey",
        title="Valkey",
        command=command,
        is_ready=lambda: valkey.is_ready(places),
        keeps_data=True,
    )


@dataclass(frozen=True)
class Model:
    service: Service
    url: str


def model(port: int) -> Model:
    """The bundled model on a port of the loopback interface."""
    bundled_weights()
    service = Service(
        name="model",
        title="The bundled model",
        command=lambda: _python(("-m", "pocketchat.embedded.model", str(port)), {}),
        is_ready=lambda: listening.answers("127.0.0.1", port, "/health"),
        patience=60,
    )
    return Model(service, f"http://127.0.0.1:{port}/v1")


@dataclass(frozen=True)
class Workers:
    """The processes that run our own code, with the environment they share."""

    environment: Mapping[str, str] = field(default_factory=dict)

    def web(self, socket_: socket.socket) -> Service:
        host, port = socket_.getsockname()[:2]
        return Service(
            name="web",
            title="The web process",
            command=lambda: self._command(
                "web", "-m", "pocketchat.embedded.web", str(socket_.fileno()), open_files=(socket_.fileno(),)
            ),
            is_ready=lambda: listening.answers(host, port, FIRST_PAGE, seconds=FIRST_PAGE_SECONDS),
            patience=60,
            is_heard=True,
        )

    def replies(self) -> Service:
        options = ("--queues", "replies", "--concurrency", str(REPLIES_AT_ONCE), "--hostname", "replies@%h")
        return Service(
            name="replies",
            title="The worker for replies",
            command=lambda: self._command("replies", *WORKER, *ALONE, *options),
            is_ready=lambda: True,
        )

    def background(self) -> Service:
        options = ("--queues", "background", "--concurrency", str(BACKGROUND_AT_ONCE), "--hostname", "background@%h")
        return Service(
            name="background",
            title="The worker for background tasks",
            command=lambda: self._command("background", *WORKER, *ALONE, *options, "--clock"),
            is_ready=lambda: True,
            # Without a mail server it prints the mails it sends, which no file may keep.
            is_heard=True,
        )

    def _command(self, name: str, *arguments: str, open_files: tuple[int, ...] = ()) -> Command:
        return _python(arguments, {**self.environment, "POCKETCHAT_PROCESS": name}, open_files)


def _python(arguments: tuple[str, ...], environment: Mapping[str, str], open_files: tuple[int, ...] = ()) -> Command:
    return Command((sys.executable, *arguments), environment=environment, folder=ROOT, open_files=open_files)
