"""`make soak`: many restless people, a worker killed every half minute, and a count of everything at the end.

`POCKETCHAT_SOAK_MINUTES` says how long, 15 if unset.
"""

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pocketchat.embedded import postgres
from pocketchat.embedded.process import wait_until
from tests.product import Product, running_product
from tests.provider import Reply
from tests.provider.replies import Body
from tests.soak.client import TOPICS, Client, Log

MINUTES = float(os.environ.get("POCKETCHAT_SOAK_MINUTES", "15"))
PEOPLE, CLIENTS = 6, 30
KILL_EVERY = 30.0
"""Seconds."""
VICTIMS = ("replies", "background")


@pytest.fixture
def product() -> Iterator[Product]:
    with running_product() as running:
        for topic, text in TOPICS.items():
            running.provider.on(about(topic), Reply(text, chunk_chars=5, chunk_delay=0.04))
        yield running


def about(topic: str) -> Callable[[Body], bool]:
    return lambda body: asked_in(body).startswith(f"{topic} ")


def asked_in(body: Body) -> str:
    """The newest question; one that was never answered stands before it, in the same message."""
    content: str = body["messages"][-1]["content"]
    return content.rsplit("\n\n", maxsplit=1)[-1]


def soak_turns(product: Product) -> None:
    """Every accepted question stored once, every turn ended, every reply a beginning of what the provider said."""
    log = Log()
    callers = [product.new_caller(f"person{number}@example.org") for number in range(PEOPLE)]
    clients = [Client(callers[number % PEOPLE], log, seed=number) for number in range(CLIENTS)]
    end = time.monotonic() + MINUTES * 60
    with ThreadPoolExecutor(CLIENTS) as crowd:
        for client in clients:
            crowd.submit(client.live_until, end)
        killed = killed_until(product, end)
    with postgres.connect(product.places, "pocketchat") as database:
        live = "SELECT count(*) FROM conversations_turn WHERE status IN ('queued', 'streaming')"
        assert wait_until(lambda: database.execute(live).fetchone() == (0,), seconds=60), "turns that never end"
        say(f"{MINUTES:g} minutes, {CLIENTS} clients of {PEOPLE} people; killed: {dict(killed)}")
        say(f"acts and answers: {dict(log.counts)}")
        faults = [*log.faults, *faults_of_rows(database, log), *faults_of_calls(database, product)]
    faults += faults_of_logs(product.places.logs)
    if "Traceback" in product.up.output.read_text():
        faults.append("a process printed a traceback")
    for caller in callers:
        caller.http.close()
    for fault in faults:
        say(f"FAULT {fault}")
    assert not faults


def killed_until(product: Product, end: float) -> Counter[str]:
    killed: Counter[str] = Counter()
    while time.monotonic() + KILL_EVERY < end:
        time.sleep(KILL_EVERY)
        victim = VICTIMS[killed.total() % len(VICTIMS)]
        product.kill(victim)
        killed[victim] += 1
    return killed


def faults_of_rows(database: psycopg.Connection[Any], log: Log) -> Iterator[str]:
    questions = "SELECT content -> 0 ->> 'text', count(*) FROM conversations_message WHERE role = 'user' GROUP BY 1"
    stored = dict(database.execute(questions).fetchall())
    say(f"questions accepted {len(log.accepted)}, stored {sum(stored.values())} ({len(stored)} different)")
    for text in log.accepted.values():
        if stored.get(text) != 1:
            yield f"{text!r} is stored {stored.get(text, 0)} times"
    statuses = database.execute("SELECT status, count(*) FROM conversations_turn GROUP BY 1").fetchall()
    say(f"turns: {dict(statuses)}")
    if failed := dict(statuses).get("failed"):
        yield f"{failed} turns failed, though the provider never does"
    replies = database.execute(
        "SELECT p.content -> 0 ->> 'text', a.content -> 0 ->> 'text', t.status FROM conversations_message a "
        "JOIN conversations_turn t ON t.id = a.turn_id JOIN conversations_message p ON p.id = t.prompt_id "
        "WHERE a.role = 'assistant'"
    ).fetchall()
    say(f"replies: {len(replies)}")
    for question, answer, status in replies:
        said = TOPICS[question.split()[0]]
        if not said.startswith(answer) or (status == "complete" and answer != said):
            yield f"{status} reply to {question!r} is {answer[:60]!r}…"
    orphans = (
        "SELECT count(*) FROM conversations_turn t WHERE status = 'complete' AND NOT EXISTS "
        "(SELECT FROM conversations_message a WHERE a.turn_id = t.id AND a.role = 'assistant')"
    )
    if (count := database.execute(orphans).fetchone()) != (0,):
        yield f"complete turns without a reply: {count}"


def faults_of_calls(database: psycopg.Connection[Any], product: Product) -> Iterator[str]:
    """No question was asked of the provider more often than it has turns."""
    asked = Counter(asked_in(request.body) for request in product.provider.requests)
    attempts = dict(
        database.execute(
            "SELECT p.content -> 0 ->> 'text', count(*) FROM conversations_turn t "
            "JOIN conversations_message p ON p.id = t.prompt_id GROUP BY 1"
        ).fetchall()
    )
    say(f"calls to the provider: {asked.total()} for {len(asked)} questions with {sum(attempts.values())} turns")
    for question, count in asked.items():
        if count > attempts.get(question, 0):
            yield f"the provider was asked {count} times for {attempts.get(question, 0)} turns: {question!r}"


def faults_of_logs(folder: Path) -> Iterator[str]:
    lines = [json.loads(line) for path in sorted(folder.glob("*.jsonl*")) for line in path.read_text().splitlines()]
    levels = Counter(
        (line["level"], line["logger"], str(line["event"])[:60]) for line in lines if line["level"] != "info"
    )
    for (level, logger, event), count in levels.most_common():
        say(f"log: {count} × {level} {logger}: {event}")
    for line in lines:
        if line["level"] in ("error", "critical") or line["event"] == "reply_broke":
            yield f"log {line['logger']}: {str(line['event'])[:200]}"


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201  # the whole purpose
