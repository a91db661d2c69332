"""A product full of marks: words that are nowhere else, said in every way the product takes them, and then looked for.

It is the whole product under its supervisor, with PostgreSQL, Valkey and logs of its own, at the most talkative level.
"""

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import redis

from pocketchat.embedded import postgres
from pocketchat.embedded.places import Places
from pocketchat.embedded.process import wait_until
from tests.conversations.transfer.incoming.samples import chatgpt, node
from tests.embedded.running import RUNNING, clean_environment, started
from tests.factories import PASSWORD
from tests.product import Product
from tests.provider import Failure, Reply, ScriptedProvider, ToolCall
from tests.stack import ROOT, Caller

MARK = re.compile(rb"zq[0-9a-f]{12}xw", re.IGNORECASE)
SMALL = "small"
SECONDS = 40
FAILING = """
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'refused: %', NEW; END
    $$;
    CREATE TRIGGER fail BEFORE INSERT OR UPDATE ON {} FOR EACH ROW WHEN ({}) EXECUTE FUNCTION fail()
"""
"""A database that breaks in the middle of anything, and quotes what it was given."""
UNFAILING = "DROP TRIGGER fail ON {}; DROP FUNCTION fail()"


made: set[bytes] = set()
"""The marks of the test that runs: one that failed leaves others."""


def mark() -> str:
    word = f"zq{uuid4().hex[:12]}xw"
    made.add(word.encode())
    return word


def marks_in(data: bytes) -> set[bytes]:
    return {word.lower() for word in MARK.findall(data)} & made


@dataclass
class Canary:
    """The product and how one looks into everything it keeps."""

    product: Product
    provider: ScriptedProvider
    environment: dict[str, str]
    turns: list[str] = field(default_factory=list)

    @property
    def places(self) -> Places:
        return self.product.places

    def database(self) -> psycopg.Connection[Any]:
        return postgres.connect(self.places, "pocketchat")

    def valkey(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=str(self.places.valkey_socket))

    def manage(self, *arguments: str, code: str = "") -> subprocess.CompletedProcess[str]:
        """A command of the product, by its side."""
        argv = [sys.executable, "manage.py", *(("shell", "-v0", "-c", code) if code else arguments)]
        return subprocess.run(
            argv, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False, timeout=120
        )

    @contextmanager
    def failing(self, table: str, *, when: str = "true") -> Iterator[None]:
        with self.database() as connection:
            connection.execute(FAILING.format(table, when))
        try:
            yield
        finally:
            with self.database() as connection:
                connection.execute(UNFAILING.format(table))

    # --- looking ------------------------------------------------------------------------------------------------------

    def in_tables(self) -> dict[str, set[bytes]]:
        """Marks by table, of every schema: also what the planner keeps of the values of columns."""
        found = {}
        with self.database() as connection:
            tables = connection.execute(
                "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables"
            ).fetchall()
            for (table,) in tables:
                with connection.cursor().copy(f"COPY (SELECT * FROM {table}) TO STDOUT") as rows:
                    found[table] = set().union(*(marks_in(bytes(row)) for row in rows))
        return {table: marks for table, marks in found.items() if marks}

    def in_redis(self) -> dict[str, set[bytes]]:
        """Marks by key, in keys and in whatever stands under them."""
        found = {}
        with self.valkey() as client:
            for key in client.scan_iter(count=1000):
                found[key.decode()] = marks_in(key + value_of(client, key))
        return {key: marks for key, marks in found.items() if marks}

    def keys(self) -> list[str]:
        with self.valkey() as client:
            return [key.decode() for key in client.scan_iter(count=1000)]

    def in_logs(self) -> dict[str, set[bytes]]:
        """Marks by file, in all that the processes have written beside their data."""
        return in_files(self.places.logs) | in_files(self.product.up.output)

    def in_files(self) -> dict[str, set[bytes]]:
        """Marks in any file below `var`."""
        return in_files(self.places.var)

    def log_lines_of(self, *names: str) -> list[str]:
        files = [path for path in self.places.logs.iterdir() if ".lock" not in path.name]
        lines = (line for path in files for line in path.read_text(errors="replace").splitlines())
        return [line for line in lines if any(name in line for name in names)]

    def receipts(self, where: str = "true") -> list[tuple[Any, ...]]:
        with self.database() as connection:
            rows = connection.execute(
                f'SELECT id, verified_at IS NOT NULL, "left", counts FROM conversations_erasure WHERE {where}'
            )
            return rows.fetchall()

    def is_verified(self) -> bool:
        receipts = self.receipts()
        return bool(receipts) and all(verified for _, verified, *_ in receipts)

    def await_verified(self) -> None:
        assert wait_until(self.is_verified, seconds=SECONDS), self.receipts()


def in_files(place: Path) -> dict[str, set[bytes]]:
    files = [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
    found = {str(path): marks_in(path.read_bytes()) | zipped_marks(path) for path in files if os.access(path, os.R_OK)}
    return {path: marks for path, marks in found.items() if marks}


def zipped_marks(path: Path) -> set[bytes]:
    if not zipfile.is_zipfile(path):
        return set()
    with zipfile.ZipFile(path) as archive:
        return set().union(*(marks_in(name.encode() + archive.read(name)) for name in archive.namelist()))


def value_of(client: redis.Redis, key: bytes) -> bytes:
    reads: dict[bytes, Any] = {
        b"string": client.get,
        b"hash": client.hgetall,
        b"set": client.smembers,
        b"list": lambda name: client.lrange(name, 0, -1),
        b"zset": lambda name: client.zrange(name, 0, -1),
        b"stream": client.xrange,
        b"none": lambda _: b"",
    }
    kind: Any = client.type(key)
    return repr(reads[kind](key)).encode()


@contextmanager
def running_canary(var: Path) -> Iterator[Canary]:
    with ScriptedProvider() as provider:
        settings = {
            "POCKETCHAT_CHAT_MODEL": "openai:scripted",
            "POCKETCHAT_SMALL_MODEL": f"openai:{SMALL}",
            "POCKETCHAT_CHAT_BASE_URL": provider.openai_url,
            "POCKETCHAT_CHAT_API_KEY": "sk-test",
            "POCKETCHAT_HISTORY_TOKENS": "300",
            "POCKETCHAT_STREAM_LIFE": "3000",
            "DEBUG": "true",
        }
        with started(var, **settings) as up:
            assert up.says(RUNNING), up.output.read_text()
            environment = clean_environment(POCKETCHAT_VAR=str(var), **settings)
            yield Canary(Product(up, provider, Places(var=var)), provider, environment)


def talk(canary: Canary, caller: Caller) -> str:
    """A conversation with a mark in everything it has; returns its id."""
    provider = canary.provider
    provider.on(lambda body: body["model"] == SMALL, *(Reply(f"Notes on {mark()}") for _ in range(30)))
    made = caller.http.post(
        "conversations", json={"system_prompt": f"Be {mark()}."}, headers={"Idempotency-Key": mark()}
    )
    conversation: str = made.json()["id"]
    search = ToolCall("search_conversation", f'{{"query": "{mark()}"}}')
    replies = [
        Reply(f"Because {mark()}.", reasoning=f"Hm, {mark()}."),
        Reply(f"Let me look for {mark()}.", tool_calls=(search,)),
        Reply(f"You said {mark()}."),
        *(Reply(f"Reply {number}: {mark()} " + "and so on " * 12) for number in range(8)),
    ]
    provider.script(*replies)
    for number in range(len(replies) - 1):
        asked(canary, caller, conversation, f"Question {number}: {mark()}? " + "Tell me more. " * 8)
    caller.http.patch(f"conversations/{conversation}", json={"title": f"Title {mark()}"})
    # A worker writes it behind the replies, and may go on while it is corrected.
    assert wait_until(lambda: corrects_summary(caller, conversation), seconds=30)
    return conversation


def corrects_summary(caller: Caller, conversation: str) -> bool:
    """False: there is none yet, or another one by now."""
    path = f"conversations/{conversation}/summary"
    through = caller.http.get(path).json().get("through")
    return caller.http.put(path, json={"text": f"Correction {mark()}", "through": through}).status_code == 200


def asked(canary: Canary, caller: Caller, conversation: str, text: str) -> dict[str, Any]:
    response = caller.ask(conversation, text, parent=caller.head(conversation), key=mark())
    assert response.status_code == 201, response.text
    canary.turns.append(response.json()["id"])
    return caller.wait(response.json()["id"])


def read_around(caller: Caller, conversation: str, turn: str) -> None:
    """Everything that takes words and only reads."""
    paths = [
        f"conversations/{conversation}/recall?q={mark()}",
        f"conversations/{conversation}/context?prompt={mark()}",
        f"turns/{turn}/context",
        f"conversations?cursor={mark()}",
        f"search?q={mark()}",
        f"nowhere/{mark()}",
        f"turns/{turn}/events?padding={mark()}",
    ]
    for path in paths:
        with caller.http.stream("GET", path):
            pass


def carry(caller: Caller, conversation: str, *, file_name: str = "chats.json") -> str:
    """Take it away in every form, and everything as an archive, which stays; bring files in. The id of what came."""
    for name in ("json", "markdown", "html", "text"):
        assert mark_is_in(caller.http.get(f"conversations/{conversation}/export?format={name}").text)
    export = done(caller, "exports", caller.http.post("exports"))
    assert export["status"] == "ready", export
    assert caller.http.get(f"exports/{export['id']}/download").is_success
    sent = chatgpt(
        node("a", None, "user", f"Said elsewhere: {mark()}"),
        node("b", "a", "assistant", f"Answered elsewhere: {mark()}"),
        title=f"Brought {mark()}",
    )
    run = done(caller, "imports", caller.http.post(f"imports?file_name={file_name}", content=json.dumps([sent])))
    assert run["imported"] == 1, run
    broken = done(caller, "imports", caller.http.post("imports", content=f'[{{"title": "{mark()}'))
    assert broken["error"], broken
    brought: str = run["results"][0]["conversation"]
    return brought


def mark_is_in(text: str) -> bool:
    return bool(marks_in(text.encode()))


def done(caller: Caller, address: str, response: httpx.Response) -> dict[str, Any]:
    """An export or an import, once a worker has done it."""
    assert response.status_code == 202, response.text
    one = f"{address}/{response.json()['id']}"
    assert wait_until(lambda: caller.http.get(one).json()["status"] not in ("queued", "running"), seconds=SECONDS)
    told: dict[str, Any] = caller.http.get(one).json()
    return told


def refuse(canary: Canary, caller: Caller, conversation: str) -> None:
    """Everything that is refused, with the words it is refused for."""
    http, turns = caller.http, f"conversations/{conversation}/turns"
    http.post(turns, content=f'{{"text": "{mark()}', headers={"Content-Type": "application/json"})
    http.post(turns, content=mark(), headers={"Content-Type": "text/plain"})
    http.post(turns, json={"text": f"{mark()} " * 20_000, "parent": None})
    http.post(turns, json={"text": mark(), "parent": mark()})
    http.post(turns, json={"text": mark(), "parent": 1})
    http.post("conversations", json={"system_prompt": f"{mark()} " * 3000})
    http.patch(f"conversations/{conversation}", json={"title": [mark()], "model": mark(), mark(): mark()})
    http.patch(f"conversations/{conversation}/summary", json={"text": mark(), "through": -1})
    http.request("DELETE", "me", json={"password": mark()})
    for kind in ("bad_request", "server", "rate_limit"):
        canary.provider.script(*[Reply(fault=Failure(kind, message=f"We refuse {mark()}"))] * 4)
        asked(canary, caller, conversation, f"Fails: {mark()}")
    canary.provider.forget()
    canary.provider.on(lambda body: body["model"] == SMALL, Reply(f"Notes {mark()}"))


def break_down(canary: Canary, caller: Caller, conversation: str) -> None:
    """Where the database breaks, in each layer that writes: request, worker, title, index; it quotes the row."""
    http = caller.http
    with canary.failing("conversations_message", when="NEW.role = 'user'"):
        failed = http.post(
            f"conversations/{conversation}/turns", json={"text": mark(), "parent": caller.head(conversation)}
        )
        assert failed.status_code == 500, failed.text
    with canary.failing("conversations_message", when="NEW.role = 'assistant'"):
        canary.provider.script(Reply(f"Not kept: {mark()}"))
        assert asked(canary, caller, conversation, f"Not kept: {mark()}")["status"] in ("failed", "interrupted")
    with canary.failing("conversations_conversation", when="NEW.title ~ '^zq'"):
        assert http.patch(f"conversations/{conversation}", json={"title": mark()}).status_code == 500
    with canary.failing("conversations_embedding"):
        canary.provider.script(Reply(f"Not indexed: {mark()}"))
        asked(canary, caller, conversation, f"Not indexed: {mark()}")
        http.get(f"conversations/{conversation}/recall?q={mark()}")


def browse(canary: Canary, browser: httpx.Client, conversation: str) -> None:
    """Pages of the owner and of the admin, with words in their addresses and forms."""
    for path in (
        f"/c/{conversation}/",
        f"/c/{conversation}/context/?text={mark()}",
        f"/c/{conversation}/summary/",
        f"/?{mark()}",
        f"/{mark()}/",
        "/admin/conversations/turn/",
        f"/admin/conversations/turn/?q={mark()}",
        f"/admin/conversations/turn/{canary.turns[0]}/change/",
        "/admin/conversations/modelcall/",
        "/admin/conversations/summary/",
        "/admin/conversations/erasure/",
    ):
        browser.get(path)
    canary.product.post(browser, f"/c/{conversation}/context/meter/", text=mark())
    canary.product.post(browser, f"/c/{conversation}/rename/", title=f"{mark()} " * 60)


@contextmanager
def logged_in(canary: Canary, email: str) -> Iterator[httpx.Client]:
    with canary.product.browser() as browser:
        canary.product.post(browser, "/accounts/login/", login=email, password=PASSWORD)
        yield browser
