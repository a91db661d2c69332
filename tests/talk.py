"""Conversations without web and queue: questions are stored as pages store them, a process of its own answers them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, cast
from uuid import uuid4

from django.conf import settings

from conversations import asking
from conversations.models import Conversation, Turn
from conversations.prompts import checked_prompt
from tests.stack import ROOT, database_url


@dataclass
class Worker:
    """A process that answers one turn after the other."""

    process: "subprocess.Popen[str]"

    def answer(self, turn: Turn) -> None:
        """Returns when the turn has ended."""
        told, heard = cast("IO[str]", self.process.stdin), cast("IO[str]", self.process.stdout)
        told.write(f"{turn.pk}\n")
        told.flush()
        assert heard.readline().strip() == str(turn.pk)


@contextmanager
def running_worker(**environment: str) -> Iterator[Worker]:
    """One with these settings, on the test database."""
    given = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "REDIS_URL": settings.REDIS_URL,
        "DJANGO_SETTINGS_MODULE": "pocketchat.settings",
        **environment,
    }
    argv = [sys.executable, "-W", "ignore", "-m", "tests.answering"]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, cwd=ROOT, env=given, stdin=pipe, stdout=pipe, text=True) as process:
        yield Worker(process)
        process.kill()


class Talk:
    """Asks in one conversation, and waits for the answers."""

    def __init__(self, conversation: Conversation, model: str, worker: Worker) -> None:
        self._conversation, self._model, self._worker = conversation, model, worker

    def ask(self, text: str) -> Turn:
        self._conversation.refresh_from_db()
        turn = asking.ask(
            self._conversation.pk,
            text=checked_prompt(text, self._conversation),
            request_key=str(uuid4()),
            parent_id=self._conversation.head_id,
            model=self._model,
        ).turn
        self._worker.answer(turn)
        turn.refresh_from_db()
        return turn
