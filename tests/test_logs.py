"""A log line tells what broke and where, and never what somebody wrote."""

import io
import json
import logging
import logging.config
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from celery import Celery
from django.core.exceptions import ValidationError
from django.db import IntegrityError, OperationalError, transaction
from django.test import Client

from conversations.models import Conversation, Message
from pocketchat.logs import logging_config
from tests.stack import ROOT

CANARY = "zanzibar-canary"
HERE = Path(__file__).name


@pytest.fixture
def lines() -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Everything that was logged so far, in the form of our files."""
    config = logging_config(folder=Path(), process="", debug=False)
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    configurator = logging.config.DictConfigurator(config)
    handler.setFormatter(configurator.configure_formatter(config["formatters"]["json"]))
    for name in config["handlers"]["lines"]["filters"]:
        handler.addFilter(configurator.configure_filter(config["filters"][name]))
    root = logging.getLogger()
    root.addHandler(handler)
    yield lambda: [json.loads(line) for line in written.getvalue().splitlines()]
    root.removeHandler(handler)


def refused_row(conversation: Conversation) -> IntegrityError:
    """What PostgreSQL answers to a row it does not take, which it quotes."""
    content = [{"type": "text", "text": CANARY}]
    with pytest.raises(IntegrityError) as refusal, transaction.atomic():
        Message.objects.create(conversation=conversation, role="user", content=content)
    assert CANARY in str(refusal.value)
    return refusal.value


def logged_by_us(fault: Exception) -> None:
    structlog.get_logger("ours").error("it_broke", exc_info=fault)


def logged_by_others(fault: Exception) -> None:
    logging.getLogger("theirs").error("Broke: %s (%r)", fault, fault, exc_info=fault)


def logged_without_a_traceback(fault: Exception) -> None:
    logging.getLogger("theirs").error("Broke: %s", fault)


def logged_by_celery(fault: Exception) -> None:
    def fail() -> None:
        raise fault

    Celery("test", set_as_current=False).task(fail).apply()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "log", [logged_by_us, logged_by_others, logged_without_a_traceback, logged_by_celery], ids=lambda log: log.__name__
)
def test_a_row_the_database_refuses_is_not_quoted(
    log: Callable[[Exception], None], lines: Callable[[], list[dict[str, Any]]], conversation: Conversation
) -> None:
    log(refused_row(conversation))
    (line,) = lines()
    assert CANARY not in json.dumps(line)


@pytest.mark.django_db
def test_kind_code_column_and_place_are_told(
    lines: Callable[[], list[dict[str, Any]]], conversation: Conversation
) -> None:
    logged_by_us(refused_row(conversation))
    told = lines()[0]["exception"]
    assert told.startswith("django.db.utils.IntegrityError\n")
    assert "caused by psycopg.errors.NotNullViolation: 23502 conversations_message turn_id" in told
    assert f"{HERE}:" in told
    assert " in refused_row" in told


@pytest.mark.parametrize(
    "fault",
    [
        ValidationError([CANARY]),
        ValueError(CANARY),
        KeyError(CANARY),
        FileNotFoundError(2, "No such file or directory", f"/tmp/{CANARY}"),
        ExceptionGroup(CANARY, [ValueError(CANARY)]),
        OperationalError(f"deadlock detected\nDETAIL:  {CANARY}"),
    ],
    ids=lambda fault: type(fault).__name__,
)
def test_a_message_that_may_quote_somebody_is_left_out(
    fault: Exception, lines: Callable[[], list[dict[str, Any]]]
) -> None:
    fault.add_note(CANARY)
    logged_by_us(fault)
    logged_by_others(fault)
    assert len(lines()) == 2
    assert CANARY not in json.dumps(lines())
    assert all(type(fault).__name__ in line["exception"] for line in lines())


def test_a_message_that_speaks_of_machines_is_kept(lines: Callable[[], list[dict[str, Any]]]) -> None:
    logged_by_us(OperationalError("connection refused by 10.0.0.7"))
    logged_by_us(FileNotFoundError(2, "No such file or directory"))
    told = [line["exception"] for line in lines()]
    assert told[0] == "django.db.utils.OperationalError: connection refused by 10.0.0.7"
    assert told[1] == "builtins.FileNotFoundError: [Errno 2] No such file or directory"


def test_what_led_to_it_is_told_too_each_once(lines: Callable[[], list[dict[str, Any]]]) -> None:
    first, second = ValueError(CANARY), RuntimeError(CANARY)
    second.__cause__, first.__cause__ = first, second
    logged_by_us(second)
    assert lines()[0]["exception"] == "builtins.RuntimeError\ncaused by builtins.ValueError"


def test_an_exception_on_its_way_is_found(lines: Callable[[], list[dict[str, Any]]]) -> None:
    try:
        int(CANARY)
    except ValueError:
        structlog.get_logger("ours").exception("it_broke")
        logging.getLogger("theirs").exception("it broke")
    assert all(line["exception"].startswith("builtins.ValueError\n") for line in lines())


def test_uvicorn_writes_our_lines_in_place_of_its_own() -> None:
    """It sets up its own logging before it loads the application."""
    code = f"""
import logging, uvicorn
uvicorn.Config("pocketchat.asgi:application").load()
try:
    raise ValueError("{CANARY}")
except ValueError:
    logging.getLogger("uvicorn.error").exception("Exception in ASGI application")
logging.getLogger("uvicorn.access").info("GET /?q={CANARY}")
"""
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    (line,) = ran.stderr.splitlines()
    assert json.loads(line)["exception"].startswith("builtins.ValueError\n")
    assert CANARY not in ran.stdout + ran.stderr


@pytest.mark.django_db
@pytest.mark.parametrize("typed", [CANARY, f"größe-{CANARY}", f"日本/{CANARY}/", f"%0A{CANARY}", f"{CANARY}%s%(x)s"])
def test_what_somebody_typed_into_an_address_is_in_no_log(
    client: Client, lines: Callable[[], list[Any]], typed: str
) -> None:
    assert client.get(f"/{typed}/").status_code == 404
    assert client.get(f"/api/v1/conversations/{typed}").status_code == 404
    assert [line["event"] for line in lines()] == ["Not Found: an unknown address"] * 2


def test_an_origin_that_is_not_believed_is_in_no_log(lines: Callable[[], list[Any]]) -> None:
    client = Client(enforce_csrf_checks=True)
    response = client.post("/accounts/login/", headers={"Origin": f"http://{CANARY}.example"})
    assert response.status_code == 403
    assert [line["event"] for line in lines()] == ["Forbidden (Origin checking failed): accounts/login/"]


@pytest.mark.django_db
def test_an_address_of_ours_is_named_by_its_route(client: Client, lines: Callable[[], list[Any]]) -> None:
    assert client.post("/sidebar/").status_code == 405
    assert [line["event"] for line in lines()] == ["Method Not Allowed (POST): sidebar/"]


@pytest.mark.parametrize("where", ["main", "thread"])
def test_what_nobody_caught_in_a_process_of_ours_is_told_without_its_words(tmp_path: Path, where: str) -> None:
    """Python would print its message to where the process's output is kept."""
    code = f"""
import django, threading
django.setup()
def fail():
    raise ValueError("{CANARY}")
if "{where}" == "thread":
    broken = threading.Thread(target=fail)
    broken.start()
    broken.join()
else:
    fail()
"""
    ours = {
        "POCKETCHAT_VAR": str(tmp_path),
        "POCKETCHAT_PROCESS": "web",
        "DJANGO_SETTINGS_MODULE": "pocketchat.settings",
    }
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=os.environ | ours, capture_output=True, text=True, check=False
    )
    (line,) = (tmp_path / "log" / "web.jsonl").read_text().splitlines()
    assert json.loads(line)["exception"].startswith("builtins.ValueError\n")
    assert CANARY not in line + ran.stdout + ran.stderr


def test_django_writes_nothing_beside_our_lines_in_debug_mode() -> None:
    """Its own handler would print whole messages then, and another one mail them."""
    code = f"""
import django, logging
django.setup()
logging.getLogger("django.request").error("Broke: %s", "{CANARY}", exc_info=ValueError("{CANARY}"))
logging.getLogger("django.server").error("it is served")
"""
    debug = {"DEBUG": "true", "DJANGO_SETTINGS_MODULE": "pocketchat.settings"}
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=os.environ | debug, capture_output=True, text=True, check=True
    )
    assert [json.loads(line)["level"] for line in (ran.stdout + ran.stderr).splitlines()] == ["error", "error"]
