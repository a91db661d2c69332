"""A restless person: asks, asks twice, stops, loses the connection, edits, regenerates, goes to other branches."""

import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx

from tests.events import Viewer
from tests.stack import Caller

TOPICS = {f"topic{number}": f"answer{number} " + "".join(f"w{word} " for word in range(60)) for number in range(10)}
"""What the provider answers to a question about a topic."""
REFUSALS = {"conversation_busy", "newer_messages", "no_other_version", "not_found"}
"""What may be answered to somebody who is not alone."""


@dataclass
class Log:
    """What was accepted and what went wrong. Questions are unique texts, by the id of their turn."""

    accepted: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


class Client:
    """One of the people who are logged in with `caller`'s account."""

    def __init__(self, caller: Caller, log: Log, *, seed: int) -> None:
        self._caller = caller
        self._log = log
        self._random = random.Random(seed)  # it must be repeatable, not secret
        self._conversations = [caller.make_conversation() for _ in range(2)]
        self._live: str | None = None

    def live_until(self, end: float) -> None:
        """`end` in seconds of the monotonic clock."""
        acts = [self.send] * 6 + [self.send_twice] * 2 + [self.stop] * 2 + [self.watch] * 4
        acts += [self.edit, self.regenerate, self.switch]
        while time.monotonic() < end:
            act = self._random.choice(acts)
            self._log.counts[act.__name__] += 1
            try:
                act()
            except httpx.TransportError as error:
                self._log.counts[f"transport {type(error).__name__}"] += 1
            except Exception as error:  # noqa: BLE001  # told at the end, with all the others
                self._log.faults.append(f"{act.__name__}: {type(error).__name__} {error}")
            time.sleep(self._random.uniform(0.1, 0.8))

    def send(self) -> None:
        self._ask(self._conversation(), times=1)

    def send_twice(self) -> None:
        self._ask(self._conversation(), times=2)

    def stop(self) -> None:
        if self._live:
            self._told(self._caller.stop(self._live))

    def watch(self) -> None:
        """Come and go; what was seen is always a beginning of what the provider says."""
        if not self._live:
            return
        viewer, turn = Viewer(), self._live
        for _ in range(self._random.randint(1, 4)):
            with suppress(httpx.TransportError, AssertionError):
                viewer.watch(self._caller.http, turn, at_most=self._random.randint(1, 12))
            if viewer.status:
                break
        if not any(text.startswith(viewer.text) for text in TOPICS.values()):
            self._log.faults.append(f"a viewer of {turn} saw what nobody said: {viewer.text[:80]!r}")

    def edit(self) -> None:
        conversation = self._conversation()
        questions = [message for message in self._messages(conversation) if message["role"] == "user"]
        if questions:
            chosen = self._random.choice(questions)
            self._ask(conversation, times=1, parent=chosen["parent"], branch=True)

    def regenerate(self) -> None:
        replies = [message for message in self._messages(self._conversation()) if message["role"] == "assistant"]
        if replies:
            turn = self._random.choice(replies)["turn"]
            key = {"Idempotency-Key": str(uuid4())}
            self._told(self._caller.http.post(f"turns/{turn}/regenerate", headers=key))

    def switch(self) -> None:
        conversation = self._conversation()
        ids = [sibling for message in self._messages(conversation) for sibling in _others(message)]
        if ids:
            chosen = self._random.choice(ids)
            self._told(self._caller.http.patch(f"conversations/{conversation}", json={"head": chosen}))

    def _conversation(self) -> str:
        return self._random.choice(self._conversations)

    def _messages(self, conversation: str) -> list[dict[str, Any]]:
        return self._caller.messages(conversation)

    def _ask(self, conversation: str, *, times: int, **place: object) -> None:
        text = f"{self._random.choice(list(TOPICS))} {uuid4()}"
        body = {"text": text, "parent": self._caller.head(conversation), **place}
        key = {"Idempotency-Key": str(uuid4())}

        def post(_: int) -> httpx.Response:
            return self._caller.http.post(f"conversations/{conversation}/turns", json=body, headers=key)

        with ThreadPoolExecutor(times) as hands:
            responses = [self._told(response) for response in hands.map(post, range(times))]
        turns = {response.json()["id"] for response in responses if response.status_code in (200, 201)}
        if len(turns) > 1:
            self._log.faults.append(f"one key made {len(turns)} turns")
        for turn in turns:
            self._log.accepted[turn] = text
            self._live = turn

    def _told(self, response: httpx.Response) -> httpx.Response:
        """Count how it was answered; what is neither granted nor a refusal that may be is a fault."""
        code = response.json().get("code", "") if response.status_code >= 400 else ""
        self._log.counts[code or str(response.status_code)] += 1
        if response.status_code >= 400 and code not in REFUSALS:
            self._log.faults.append(f"{response.request.method} {response.status_code} {response.text[:200]}")
        return response


def _others(message: dict[str, Any]) -> list[int]:
    siblings = message["siblings"]
    return [pk for pk in (siblings["previous"], siblings["next"]) if pk]
