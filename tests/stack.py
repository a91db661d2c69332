"""The running product: web and worker processes of their own, on the test database, with a scripted provider."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from uuid import UUID

import httpx
from django.conf import settings
from django.db import connection
from knox.models import AuthToken

from accounts.models import User
from pocketchat.embedded.listening import free_port
from pocketchat.embedded.process import Command, end, kill_group, spawn, wait_until
from tests.provider import ScriptedProvider

ROOT = Path(__file__).resolve().parent.parent
"""Of the checkout."""
START_SECONDS = 60


def database_url() -> str:
    """The test database of this pytest process, for processes of their own."""
    values = connection.settings_dict
    if not str(values["HOST"]).startswith("/"):
        host = f"{values['HOST']}:{values['PORT'] or 5432}"
        return f"postgres://{values['USER']}:{values['PASSWORD']}@{host}/{values['NAME']}"
    return f"postgres://{values['USER']}@/{values['NAME']}?host={values['HOST']}"


@dataclass
class Stack:
    """Starts and ends processes; everything still running ends with it."""

    provider: ScriptedProvider
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    ports: list[int] = field(default_factory=list)
    _processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def url(self, web: int = 0) -> str:
        return f"http://127.0.0.1:{self.ports[web]}"

    def start_web(self) -> int:
        """Start one more web process; its number is for `url` and `kill`."""
        self.ports.append(free_port())
        number = len(self.ports) - 1
        self.restart_web(number)
        return number

    def restart_web(self, number: int = 0) -> None:
        argv = ("-m", "uvicorn", "pocketchat.asgi:application", "--port", str(self.ports[number]), "--no-access-log")
        self._start(f"web{number}", (*argv, "--lifespan", "off", "--timeout-graceful-shutdown", "1"))
        self._expect(f"web{number}", lambda: self._answers(number))

    def start_worker(self, name: str = "worker", *, queues: str = "replies,background") -> None:
        argv = ("-m", "celery", "-A", "pocketchat", "worker", "-P", "threads", "-c", "256", "-Q", queues, "-n", name)
        self._output(name).unlink(missing_ok=True)
        self._start(name, (*argv, "--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "INFO"))
        # A worker that still loads the models' clients lets the first question wait, on a busy machine for long.
        said = "replies_warm" if "replies" in queues else " ready"
        self._expect(name, lambda: said in self._output(name).read_text())

    def kill(self, name: str) -> None:
        """`kill -9`, as a crash would."""
        kill_group(self._processes.pop(name))

    def stop(self, name: str, *, grace: float = 10) -> None:
        """Ask to end, as a new release would."""
        end(self._processes.pop(name), politely=signal.SIGTERM, grace=grace)

    def is_running(self, name: str) -> bool:
        return name in self._processes and self._processes[name].poll() is None

    def pids(self) -> list[int]:
        return [process.pid for process in self._processes.values()]

    def close(self) -> None:
        for name in list(self._processes):
            self.stop(name, grace=6)

    def output(self, name: str) -> str:
        return self._output(name).read_text()

    def ends_of_outputs(self, characters: int = 5000) -> list[tuple[str, str]]:
        """Name and last words of every process that was ever started, those that are gone included."""
        return [(file.stem, file.read_text()[-characters:]) for file in sorted(self.folder.glob("*.out"))]

    def _start(self, name: str, argv: tuple[str, ...]) -> None:
        command = Command((sys.executable, *argv), environment=self.environment, folder=ROOT)
        self._processes[name] = spawn(command, output=self._output(name))

    def _expect(self, name: str, is_ready: Any) -> None:
        process = self._processes[name]
        started = wait_until(lambda: process.poll() is not None or is_ready(), seconds=START_SECONDS)
        assert started, f"{name} does not start:\n{self.output(name)}"
        assert process.poll() is None, f"{name} ended:\n{self.output(name)}"

    def _answers(self, number: int) -> bool:
        try:
            return httpx.get(f"{self.url(number)}/accounts/login/", timeout=5).status_code < 500
        except httpx.TransportError:
            return False

    def _output(self, name: str) -> Path:
        return self.folder / f"{name}.out"


@contextmanager
def running_stack(folder: Path, **environment: str) -> Iterator[Stack]:
    """One web process and one worker, answering through the scripted provider."""
    with ExitStack() as resources:
        provider = resources.enter_context(ScriptedProvider())
        stack = Stack(provider, folder)
        stack.environment = {
            "DATABASE_URL": database_url(),
            "REDIS_URL": settings.REDIS_URL,
            "SECRET_KEY": settings.SECRET_KEY,
            "POCKETCHAT_CHAT_MODEL": "openai:scripted",
            "POCKETCHAT_CHAT_BASE_URL": provider.openai_url,
            "POCKETCHAT_CHAT_API_KEY": "sk-secret-of-the-scripted-provider",
            "POCKETCHAT_DATABASE_POOL": "10",
            # A model that names conversations would take the replies that tests have scripted.
            "POCKETCHAT_TITLES": "false",
            "POCKETCHAT_SUMMARIES": "false",
            # Loading the embedder and writing the index takes each product under test seconds of its own.
            "POCKETCHAT_RECALL": "false",
            "POCKETCHAT_ENV_FILE": os.devnull,
            **environment,
        }
        resources.callback(stack.close)
        stack.start_web()
        stack.start_worker()
        yield stack


OwnStack = Callable[..., AbstractContextManager[Stack]]
"""Starts a product; takes its settings by name."""


class Caller:
    """A program with a token."""

    def __init__(self, url: str, token: str) -> None:
        self.http = httpx.Client(base_url=f"{url}/api/v1/", headers={"Authorization": f"Token {token}"}, timeout=30)

    @classmethod
    def of(cls, stack: Stack, user: User, *, web: int = 0) -> Self:
        _, token = AuthToken.objects.create(user)
        return cls(stack.url(web), token)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def make_conversation(self) -> str:
        response = self.http.post("conversations", json={})
        assert response.status_code == 201, response.text
        conversation: str = response.json()["id"]
        return conversation

    def ask(self, conversation: str, text: str, *, parent: int | None = None, key: str | None = None) -> httpx.Response:
        headers = {"Idempotency-Key": key} if key else {}
        return self.http.post(
            f"conversations/{conversation}/turns", json={"text": text, "parent": parent}, headers=headers
        )

    def turn(self, turn_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.http.get(f"turns/{turn_id}").json()
        return found

    def stop(self, turn_id: str) -> httpx.Response:
        return self.http.post(f"turns/{turn_id}/stop")

    def head(self, conversation: str) -> int | None:
        head: int | None = self.http.get(f"conversations/{conversation}").json()["head"]
        return head

    def messages(self, conversation: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.http.get(f"conversations/{conversation}/messages").json()["results"]
        return found

    def wait(self, turn_id: str | UUID, *, seconds: float = 30) -> dict[str, Any]:
        """The turn once it has ended."""
        deadline = time.monotonic() + seconds
        while (turn := self.turn(str(turn_id)))["finished_at"] is None:
            assert time.monotonic() < deadline, f"still {turn['status']} after {seconds} s"
            time.sleep(0.05)
        return turn
