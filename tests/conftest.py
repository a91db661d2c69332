"""Fixtures every test may ask for."""

import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from datetime import timedelta
from functools import partial

import hypothesis
import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Browser
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.models import User
from conversations import calibration, meaning
from conversations.models import Conversation, ModelCall, Turn
from pocketchat.embedded.process import wait_until
from tests import emptying
from tests.chromium import running_chromium
from tests.factories import make_conversation, make_user
from tests.services import second_redis_url
from tests.stack import Caller, OwnStack, Stack, running_stack

# An example takes longer while the machine does something else, too.
hypothesis.settings.register_profile("unhurried", deadline=None)
hypothesis.settings.load_profile("unhurried")

emptying.use_for_all_tests()


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = ["tests.factories.QuickHasher"]


@pytest.fixture(autouse=True)
def _recalls(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """What can be switched on is on in the tests' own process; the products under test say it for themselves."""
    settings.POCKETCHAT_RECALL = True
    # The embedder is loaded by the first test that asks it, on a busy machine for longer than a person would wait.
    monkeypatch.setattr(meaning, "QUESTION_SECONDS", 60)
    meaning.forget()


@pytest.fixture(autouse=True)
def _no_scales_kept() -> None:
    """A process keeps them for a minute, and a test's rows are gone with it."""
    calibration.forget()


@pytest.fixture(autouse=True)
def _nothing_asked_lately() -> None:
    """What other tests asked models in this minute does not count."""
    cache.delete_many([f"pace:{purpose}" for purpose in ModelCall.Purpose])


@pytest.fixture
def owner(db: None) -> User:
    return make_user("owner@example.org")


@pytest.fixture
def stranger(db: None) -> User:
    return make_user("stranger@example.org")


@pytest.fixture
def conversation(owner: User) -> Conversation:
    return make_conversation(owner)


@pytest.fixture
def page(client: Client, owner: User) -> Client:
    """A browser without a screen, logged in as the owner."""
    client.force_login(owner)
    return client


@pytest.fixture
def api(owner: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(owner)
    return client


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Gone with its module: while Playwright's event loop runs, no other can run in this thread."""
    with running_chromium() as started:
        yield started


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What a module starts for itself, a browser or a product, is started in one of the processes, not in each."""
    for item in items:
        asked_for = getattr(item, "fixturenames", ())
        if not {"browser", "own_stack"}.isdisjoint(asked_for) and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Failures are kept under their names alone: with xdist's group behind them, `--last-failed` found none."""
    kept = session.config.cache
    if kept is not None and not os.environ.get("PYTEST_XDIST_WORKER"):
        failed = kept.get("cache/lastfailed", {})
        kept.set("cache/lastfailed", {_without_group(name): value for name, value in failed.items()})


def _without_group(nodeid: str) -> str:
    # A group stands behind the parameters, which may have an @ of their own.
    name, bracket, rest = nodeid.rpartition("]")
    return name + bracket + rest.partition("@")[0]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Pages name their static files by content, so those are collected once, as on any installation."""
    if not os.environ.get("PYTEST_XDIST_WORKER") and not session.config.option.collectonly:
        subprocess.run([sys.executable, "manage.py", "collectstatic", "--noinput", "-v0"], check=True)


@pytest.fixture(scope="session")
def running(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The product's processes, one set for each pytest process; they see rows only of transactional tests."""
    folder = tmp_path_factory.mktemp("stack")
    with running_stack(folder, POCKETCHAT_LEASE="4", POCKETCHAT_PROVIDER_SILENCE="3") as stack:
        yield stack


@pytest.fixture(scope="module")
def own_stack(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> OwnStack:
    """For a module whose `running` product is set up in another way than the one all others share."""
    return partial(running_stack, tmp_path_factory.mktemp("stack"), REDIS_URL=second_redis_url())


@pytest.fixture
def stack(running: Stack, transactional_db: None) -> Iterator[Stack]:
    running.provider.forget()
    yield running
    assert not Turn.objects.live().exists(), "a test left a turn live"
    # The tables are emptied next: a worker that still writes its trace, or the index, would be caught between them.
    wait_until(_workers_are_idle, seconds=15)


def _workers_are_idle() -> bool:
    """Nobody else is in a transaction, and whatever came to its own end has left its trace."""
    # What no worker asked a model for, as a test's own rows, has no record of a context, and never gets a trace.
    untraced = Turn.objects.filter(model_calls=None, context__isnull=False)
    # One that was broken off has a trace if the model was asked; that is written within a moment, or not at all.
    moment_ago = timezone.now() - timedelta(seconds=1)
    broken_off = untraced.filter(started_at__isnull=False, finished_at__gt=moment_ago)
    ended = untraced.filter(status__in=["complete", "failed"]) | broken_off
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND state <> 'idle'"
        )
        return not ended.exists() and cursor.fetchone()[0] == 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What fails once in a thousand runs is understood by what the processes wrote, or never."""
    report = yield
    running = getattr(item, "funcargs", {}).get("stack")
    if report.failed and isinstance(running, Stack):
        report.sections += [(f"end of the output of {name}", text) for name, text in running.ends_of_outputs()]
    return report


@pytest.fixture
def caller(stack: Stack) -> Iterator[Caller]:
    with Caller.of(stack, make_user("caller@example.org")) as program:
        yield program
