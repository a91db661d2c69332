"""The product under its supervisor, really started, killed and started again."""

import contextlib
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.db import connection

from pocketchat.embedded import database
from pocketchat.embedded.process import wait_until
from tests.embedded.running import RUNNING, SIGNS, Up, refused, standing_in, started
from tests.stack import database_url

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("up")]


@pytest.fixture(scope="module")
def var(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("up") / "var"


@pytest.fixture(scope="module")
def running(var: Path) -> Iterator[Callable[[], Up]]:
    """The product on `var`, started on what the test before has left when that test ended it."""
    with contextlib.ExitStack() as starts:
        current: list[Up] = []

        def product() -> Up:
            if not current or current[-1].has_ended():
                current.append(starts.enter_context(started(var)))
                assert current[-1].says(RUNNING), current[-1].output.read_text()
            return current[-1]

        yield product


@pytest.fixture
def up(running: Callable[[], Up]) -> Up:
    return running()


def test_it_answers_and_says_where_and_what_to_do_next(var: Path, up: Up) -> None:
    assert up.answers()
    said = up.output.read_text()
    assert f"http://localhost:{up.port}" in said
    assert "becomes the administrator" in said
    assert str(var / "log") in said


def test_the_bundled_model_is_there_with_its_whole_window(up: Up) -> None:
    address = up.family()["web"].environ()["POCKETCHAT_BUNDLED_URL"]
    offered = httpx.get(f"{address}/models").json()["data"]
    assert [(one["id"], one["meta"]["n_ctx"]) for one in offered] == [("smollm2-135m", 8192)]
    question = {"model": "smollm2-135m", "max_tokens": 3, "messages": [{"role": "user", "content": "Hello"}]}
    answer = httpx.post(f"{address}/chat/completions", json=question, timeout=60).json()
    assert answer["usage"]["completion_tokens"] > 0


def test_mail_is_readable_where_it_was_started(up: Up) -> None:
    """While no mail server is configured, a link to a new password has to be found somewhere."""
    with httpx.Client(base_url=f"http://127.0.0.1:{up.port}") as browser:
        page = browser.get("/accounts/password/reset/")
        fields = {"email": "somebody@example.org", "csrfmiddlewaretoken": browser.cookies["csrftoken"]}
        assert browser.post(page.url.path, data=fields).status_code == 302
    assert up.says("To: somebody@example.org", seconds=5)


def test_its_sockets_are_in_reach_of_nobody_else(var: Path, up: Up) -> None:
    sockets = [path for path in (var / "run").rglob("*") if path.is_socket()]
    assert len(sockets) == 2
    for path in sockets:
        assert not path.stat().st_mode & 0o077
    assert not (var / "run" / "postgres").stat().st_mode & 0o077
    assert not (var / "postgres").stat().st_mode & 0o077


def test_a_second_start_on_the_same_data_says_that_it_runs(var: Path, up: Up) -> None:
    assert f"already runs on {var}: process {up.process.pid}, http://localhost:{up.port}" in refused(var)


def test_a_killed_process_is_replaced_and_the_pages_go_on(up: Up) -> None:
    for name, child in up.family().items():
        child.send_signal(signal.SIGKILL)
        assert up.replaces(name, child), f"{name} was not replaced:\n{up.output.read_text()}"
        assert up.answers(), f"no page after {name} was killed:\n{up.output.read_text()}"
    assert up.output.read_text().count("ended (killed by SIGKILL); starting it again.") == len(SIGNS)


def test_ctrl_c_ends_everything_within_ten_seconds(var: Path, up: Up) -> None:
    assert up.stop(signal.SIGINT) < 10
    assert up.process.returncode == 0
    assert standing_in(var) == []


def test_a_killed_supervisor_leaves_nobody_behind(var: Path, up: Up) -> None:
    up.process.kill()
    up.process.wait()
    assert wait_until(lambda: standing_in(var) == [], seconds=5)


@pytest.fixture
def empty_database(db: None) -> Iterator[str]:
    """The address of a database on the server of the tests, as somebody has it who runs one."""
    name = f"elsewhere_{connection.settings_dict['NAME']}"
    with database.connect({**connection.settings_dict, "NAME": "postgres"}) as server:
        server.execute(f"CREATE DATABASE {name}")
        yield database_url().replace(str(connection.settings_dict["NAME"]), name)
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_what_the_settings_name_is_used_and_not_started(tmp_path: Path, empty_database: str) -> None:
    with started(
        tmp_path / "var",
        DATABASE_URL=empty_database,
        REDIS_URL=settings.REDIS_URL,
        SECRET_KEY="k" * 60,
        POCKETCHAT_CHAT_MODEL="openai:some-model",
        OPENAI_API_KEY="some-key",
    ) as product:
        assert product.says(RUNNING), product.output.read_text()
        assert product.answers()
        assert product.family().keys() == {"web", "replies", "background"}
        product.stop()
