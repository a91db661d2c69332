"""`make bench`: what we add between a provider and a person, beside a bare proxy in the same run.

Absolute figures depend on the machine and on what else it does; the ratios are what to compare.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from knox.models import AuthToken
from pytest_django import DjangoDbBlocker

from pocketchat.embedded.listening import free_port
from pocketchat.embedded.process import Command, kill_group, spawn, wait_until
from tests.bench.load import Arrival, through_product, through_proxy
from tests.factories import make_conversation, make_user
from tests.provider import Reply, ScriptedProvider, steady
from tests.stack import ROOT, Stack, running_stack

pytestmark = pytest.mark.django_db(transaction=True)

QUICK = Reply(deltas=("word0 ", "word1 ", "word2 "))
LOAD = steady(200, per_second=20)


@pytest.fixture(scope="module")
def product(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    with django_db_blocker.unblock(), running_stack(tmp_path_factory.mktemp("bench")) as stack:
        yield stack


@contextmanager
def bare_proxy(provider: ScriptedProvider, folder: Path) -> Iterator[int]:
    port = free_port()
    argv = ("python", "-m", "uvicorn", "tests.bench.bare_proxy:app", "--port", str(port), "--log-level", "warning")
    command = Command((str(ROOT / ".venv/bin/python"), *argv[1:]), {"PROVIDER": provider.openai_url}, folder=ROOT)
    process = spawn(command, output=folder / "proxy.out")
    try:
        assert wait_until(lambda: _listens(process.pid), seconds=20)
        yield port
    finally:
        kill_group(process)


def _listens(pid: int) -> bool:
    return any(connection.status == "LISTEN" for connection in psutil.Process(pid).net_connections())


def people_with_conversations(count: int) -> list[tuple[str, str]]:
    """The token and the conversation of each."""
    users = [make_user() for _ in range(count)]
    return [(AuthToken.objects.create(user)[1], str(make_conversation(user).pk)) for user in users]


async def together(make: Callable[[int], Awaitable[Arrival]], count: int) -> list[Arrival]:
    return await asyncio.gather(*(make(number) for number in range(count)))


def milliseconds(seconds: list[float], share: float = 0.5) -> float:
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, round(share * len(ordered)))] * 1000


def say(line: str) -> None:
    print(line)  # noqa: T201  # the whole purpose


def cpu_and_memory(stack: Stack) -> tuple[float, float]:
    """Seconds of processor time and megabytes of our own processes."""
    ours = [psutil.Process(pid) for pid in stack.pids()]
    ours += [child for process in ours for child in process.children(recursive=True)]
    cpu = sum(sum(process.cpu_times()[:2]) for process in ours)
    return cpu, sum(process.memory_info().rss for process in ours) / 1e6


@pytest.mark.parametrize(("people", "rounds"), [(1, 30), (50, 3)])
def bench_first_word(product: Stack, tmp_path: Path, people: int, rounds: int) -> None:
    """Time from sending a question to the first word of its answer; the provider itself answers at once."""
    ours: list[float] = []
    bare: list[float] = []
    port = product.ports[0]
    product.provider.on("first word", QUICK)
    with bare_proxy(product.provider, tmp_path) as proxy:
        for _ in range(rounds):
            made = people_with_conversations(people)
            asked = together(lambda n: through_product(port, *made[n], "first word"), people)  # noqa: B023  # run before the next round
            ours += [arrival.first for arrival in asyncio.run(asked)]
            passed = together(lambda _: through_proxy(proxy, "first word"), people)
            bare += [arrival.first for arrival in asyncio.run(passed)]
    here, floor = milliseconds(ours), milliseconds(bare)
    say(
        f"first word, {people} at once: {here:.1f} ms (p95 {milliseconds(ours, 0.95):.1f}), "
        f"bare proxy {floor:.1f} ms, added {here - floor:.1f} ms, ratio {here / floor:.1f}"
    )


def bench_many_replies(product: Stack) -> None:
    """200 replies of 20 deltas a second for ten seconds: are all complete, how late is a delta, what does it take?"""
    people = 200
    product.provider.forget()
    product.provider.on("load", LOAD)
    made = people_with_conversations(people)
    cpu_before, idle = cpu_and_memory(product)
    peak = [idle]

    async def run() -> list[Arrival]:
        watching = asyncio.create_task(_peak(product, peak))
        arrivals = await together(lambda n: through_product(product.ports[0], *made[n], f"load {n}"), people)
        watching.cancel()
        return arrivals

    began = time.monotonic()
    arrivals = asyncio.run(run())
    took = time.monotonic() - began
    cpu = cpu_and_memory(product)[0] - cpu_before
    sent = {request.body["messages"][-1]["content"]: request.delta_times for request in product.provider.requests}
    late = [
        at - sent[f"load {person}"][number]
        for person, arrival in enumerate(arrivals)
        for number, at in arrival.words.items()
    ]
    complete = sum(arrival.ended and len(arrival.words) == len(LOAD.deltas) for arrival in arrivals)
    say(
        f"200 replies: {complete} complete in {took:.1f} s; "
        f"a delta is late by {statistics.median(late) * 1000:.1f} ms, p99 {milliseconds(late, 0.99):.1f} ms; "
        f"{cpu / len(late) * 1000:.3f} CPU s per 1,000 deltas; "
        f"{idle:.0f} MB idle, {max(peak):.0f} MB at most"
    )


async def _peak(stack: Stack, peak: list[float]) -> None:
    while True:
        peak.append(cpu_and_memory(stack)[1])
        await asyncio.sleep(1)
