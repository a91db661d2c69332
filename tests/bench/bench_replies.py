"""`make bench`: what we add between a provider and a person, beside a bare proxy in the same run.

Absolute figures depend on the machine and on what else it does; the ratios are what to compare. The provider has a
process of its own, clients and proxy use no library: what they take is taken from nobody's share.
"""

import asyncio
import statistics
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil
import pytest
import uvloop
from knox.models import AuthToken
from pytest_django import DjangoDbBlocker

from pocketchat.embedded.listening import free_port
from pocketchat.embedded.process import Command, kill_group, spawn, wait_until
from tests.bench.load import Arrival, through_product, through_proxy
from tests.bench.provider import Provider, provider_process
from tests.factories import make_conversation, make_user
from tests.provider import Reply, steady
from tests.stack import ROOT, Stack, running_stack

pytestmark = pytest.mark.django_db(transaction=True)

QUICK = Reply(deltas=("word0 ", "word1 ", "word2 "))
LOAD = steady(200, per_second=20)


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with provider_process() as running:
        running.on("first word", QUICK)
        running.on("load", LOAD)
        yield running


@pytest.fixture(scope="module")
def product(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
    provider: Provider,
) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("bench")
    with django_db_blocker.unblock(), running_stack(folder, POCKETCHAT_CHAT_BASE_URL=provider.openai_url) as stack:
        yield stack


@dataclass(frozen=True)
class Proxy:
    port: int
    pid: int


@pytest.fixture(scope="module")
def proxy(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """The floor: what a question takes that is passed on as it is."""
    port = free_port()
    argv = ("-m", "uvicorn", "tests.bench.bare_proxy:app", "--lifespan", "off", "--no-access-log", "--port", str(port))
    command = Command((sys.executable, *argv), {"PROVIDER": provider.openai_url}, folder=ROOT)
    process = spawn(command, output=tmp_path_factory.mktemp("proxy") / "proxy.out")
    try:
        assert wait_until(lambda: _listens(process.pid), seconds=20)
        yield Proxy(port, process.pid)
    finally:
        kill_group(process)


def _listens(pid: int) -> bool:
    return any(connection.status == "LISTEN" for connection in psutil.Process(pid).net_connections())


def people_with_conversations(count: int) -> list[tuple[str, str]]:
    """The token and the conversation of each."""
    users = [make_user() for _ in range(count)]
    return [(AuthToken.objects.create(user)[1], str(make_conversation(user).pk)) for user in users]


def together(make: Callable[[int], Awaitable[Arrival]], count: int) -> list[Arrival]:
    async def all_at_once() -> list[Arrival]:
        return await asyncio.gather(*(make(number) for number in range(count)))

    return uvloop.run(all_at_once())


def milliseconds(seconds: list[float], share: float = 0.5) -> float:
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, round(share * len(ordered)))] * 1000


def say(line: str) -> None:
    print(line)  # noqa: T201  # the whole purpose


def pids(stack: Stack) -> list[int]:
    """Of all our processes."""
    ours = [psutil.Process(pid) for pid in stack.pids()]
    return [process.pid for one in ours for process in (one, *one.children(recursive=True))]


def cpu(pids: list[int]) -> float:
    """Seconds of processor time."""
    times = [psutil.Process(pid).cpu_times() for pid in pids]
    return float(sum(each.user + each.system for each in times))


def megabytes(pids: list[int]) -> float:
    """Of all processes together; what several of them share counts once."""
    return float(sum(psutil.Process(pid).memory_full_info().pss for pid in pids)) / 1e6


@pytest.mark.parametrize(("people", "rounds"), [(1, 30), (50, 4)])
def bench_first_word(product: Stack, proxy: Proxy, people: int, rounds: int) -> None:
    """Time from sending a question to the first word of its answer; the provider itself answers at once."""
    ours: list[float] = []
    bare: list[float] = []
    port = product.ports[0]
    took = 0.0
    for number in range(rounds + 1):
        made = people_with_conversations(people)
        before = cpu(pids(product))
        asked = together(lambda n: through_product(port, *made[n], "first word"), people)  # noqa: B023  # run at once
        passed = together(lambda _: through_proxy(proxy.port, "first word"), people)
        if number == 0:
            continue  # What is loaded with the first question is not what a question takes.
        took += cpu(pids(product)) - before
        ours += [arrival.first for arrival in asked]
        bare += [arrival.first for arrival in passed]
    here, floor = milliseconds(ours), milliseconds(bare)
    say(
        f"first word, {people} at once: {here:.1f} ms (p95 {milliseconds(ours, 0.95):.1f}), "
        f"bare proxy {floor:.1f} ms, added {here - floor:.1f} ms, ratio {here / floor:.1f}; "
        f"{took / rounds / people * 1000:.1f} CPU ms a question"
    )


def bench_many_replies(product: Stack, proxy: Proxy, provider: Provider) -> None:
    """200 replies of 20 deltas a second for ten seconds: are all complete, how late is a delta, what does it take?"""
    people = 200
    made = people_with_conversations(people)
    ours = pids(product)
    idle = megabytes(ours)
    with watched(ours) as peak:
        report = carried(lambda n: through_product(product.ports[0], *made[n], f"load {n}"), "load", ours, provider)
    floor = carried(lambda n: through_proxy(proxy.port, f"bare load {n}"), "bare load", [proxy.pid], provider)
    say(f"200 replies: {report}; {idle:.0f} MB idle, {max(peak):.0f} MB at most\n  bare proxy: {floor}")


def carried(make: Callable[[int], Awaitable[Arrival]], question: str, pids: list[int], provider: Provider) -> str:
    """How the load went through those processes."""
    before, began = cpu(pids), time.monotonic()
    arrivals = together(make, 200)
    took, seconds = time.monotonic() - began, cpu(pids) - before
    sent = provider.times()
    late = [
        at - sent[f"{question} {person}"][number]
        for person, arrival in enumerate(arrivals)
        for number, at in arrival.words.items()
    ]
    complete = sum(arrival.ended and len(arrival.words) == len(LOAD.deltas) for arrival in arrivals)
    return (
        f"{complete} complete in {took:.1f} s; "
        f"a delta is late by {statistics.median(late) * 1000:.1f} ms, p99 {milliseconds(late, 0.99):.1f} ms; "
        f"{seconds / len(late) * 1000:.3f} CPU s per 1,000 deltas"
    )


@contextmanager
def watched(pids: list[int]) -> Iterator[list[float]]:
    """Megabytes, every second, from a thread."""
    found, is_over = [megabytes(pids)], threading.Event()

    def look() -> None:
        while not is_over.wait(1):
            found.append(megabytes(pids))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield found
    finally:
        is_over.set()
        looking.join()
