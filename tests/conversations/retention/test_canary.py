"""What was said is looked for everywhere before it is erased, and found nowhere behind it."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import pytest

from conversations.retention.manifest import unanswered_keys
from pocketchat.embedded.process import wait_until
from tests.conversations.retention.canary import (
    SECONDS,
    Canary,
    break_down,
    browse,
    carry,
    logged_in,
    made,
    mark,
    read_around,
    refuse,
    running_canary,
    talk,
)
from tests.factories import PASSWORD

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("canary")]

ADMINISTRATOR = "admin@example.org"

ERASE = """
from django.utils import timezone
from conversations.models import Erasure
from conversations.retention import rows
from conversations.retention.erase import erase_conversations
{}
erase_conversations({}, reason=Erasure.Reason.OWNER, by=None, now=timezone.now())
"""
KILLED = """
import os, signal
from conversations.retention import looks
rows.MESSAGES_AT_ONCE = 5
followed = looks.follow
def follow(erasure, *args, **kwargs):
    followed(erasure, *args, **kwargs)
    if Erasure.objects.count() > 3:
        os.kill(os.getpid(), signal.SIGKILL)
looks.follow = follow
"""


@pytest.fixture(scope="module")
def canary() -> Iterator[Canary]:
    # Not below pytest's own folder: another run closes that to the account of PostgreSQL.
    with TemporaryDirectory(prefix="pocketchat-canary-") as folder, running_canary(Path(folder) / "var") as running:
        running.product.new_caller(ADMINISTRATOR).http.close()
        yield running


@pytest.fixture(autouse=True)
def _marks_of_its_own() -> None:
    made.clear()


def nothing_is_found(canary: Canary) -> None:
    assert canary.in_tables() == {}
    assert canary.in_redis() == {}
    assert canary.in_logs() == {}


def compacted(canary: Canary) -> None:
    done = canary.manage("compact")
    assert done.returncode == 0, done.stderr
    assert canary.in_files() == {}


def verified(canary: Canary, *arguments: str) -> None:
    done = canary.manage("verify_erasure", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_that_was_said_is_left(canary: Canary) -> None:
    email = f"{uuid4().hex}@example.org"
    with canary.product.new_caller(email) as caller, logged_in(canary, ADMINISTRATOR) as browser:
        conversation = talk(canary, caller)
        read_around(caller, conversation, canary.turns[-1])
        brought = carry(caller, conversation)
        refuse(canary, caller, conversation)
        break_down(canary, caller, conversation)
        browse(canary, browser, conversation)

        with canary.database() as connection:
            connection.execute("ANALYZE")
        known = {
            "public.conversations_conversation",
            "public.conversations_message",
            "public.conversations_embedding",
            "public.conversations_searchentry",
            "public.conversations_summary",
            "public.conversations_turn",
        }
        assert canary.in_tables().keys() == known, "marks are not where they should be, or are where they should not"
        assert any("events" in key for key in canary.in_redis())
        files = canary.in_files()
        assert any("exports" in path for path in files), "who finds nothing now proves nothing later"
        assert canary.in_logs() == {}
        assert canary.log_lines_of(conversation, *canary.turns), "no line names an id: then none is taken out"
        assert unanswered_keys(canary.keys()) == []
        left = canary.manage("verify_erasure", "--ids", conversation, *canary.turns)
        assert (left.returncode, "rows" in left.stdout, "streams" in left.stdout) == (1, True, True)

        erased = canary.manage(code=ERASE.format("", [conversation, brought]))
        assert erased.returncode == 0, erased.stderr
        canary.await_verified()
        nothing_is_found(canary)
        assert canary.log_lines_of(conversation, *canary.turns) == []
        assert caller.http.get(f"conversations/{conversation}").status_code == 404
        verified(canary)
        verified(canary, "--ids", conversation, *canary.turns)
    compacted(canary)


def test_an_erasure_that_is_killed_in_the_middle_is_finished_by_a_worker(canary: Canary) -> None:
    with canary.product.new_caller(f"{uuid4().hex}@example.org") as caller:
        conversation = talk(canary, caller)
        killed = canary.manage(code=ERASE.format(KILLED, [conversation]))
        assert killed.returncode == -9, killed.stderr
        assert canary.in_tables(), "it was killed too late"
        assert caller.http.get(f"conversations/{conversation}").status_code == 404
        with canary.database() as connection:
            connection.execute("UPDATE conversations_erasure SET next_look_at = now() WHERE erased_at IS NULL")
        canary.await_verified()
        nothing_is_found(canary)
        verified(canary, "--ids", conversation)


def test_nothing_of_a_closed_account_is_left(canary: Canary) -> None:
    email = f"{mark()}@example.org"
    with canary.product.new_caller(email) as caller:
        carry(caller, talk(canary, caller), file_name=mark())
        number = caller.http.get("me").json()["id"]
        with logged_in(canary, ADMINISTRATOR) as browser:
            page = f"/admin/accounts/user/{number}/change/"
            canary.product.post(browser, page, email=email, is_active="on")
        closed = caller.http.request("DELETE", "me", json={"password": PASSWORD})
        assert closed.status_code == 202, closed.text
        assert caller.http.get("me").status_code == 401
        canary.await_verified()
        # Where no mail server is set up, mails are printed for whoever runs the server, and kept nowhere.
        assert canary.in_logs().keys() <= {str(canary.product.up.output)}
        assert canary.in_tables() == {}
        assert canary.in_redis() == {}
        receipt = closed.json()["receipt"]
        said = canary.product.up.output
        assert wait_until(lambda: f"receipt {receipt}" in said.read_text(), seconds=SECONDS)
        verified(canary)
    compacted(canary)
