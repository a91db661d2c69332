"""What a newcomer does: an empty folder, one command, a chat with the bundled model, a restart, and all is there."""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from pocketchat.embedded.listening import free_port
from pocketchat.embedded.process import kill_group, wait_until
from tests.browser.conftest import Visit
from tests.browser.pictures import snap
from tests.stack import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("from clone to chat")]

PASSWORD = "a rather long pass phrase"
FIRST_START = 240
"""Seconds; with the installation of everything, on a machine that runs other tests."""
ANSWER_MS = 180_000


def clone_into(folder: Path) -> None:
    """The files of this checkout as git sees them, those not committed yet included."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (source := ROOT / name).is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


@contextmanager
def made_to_run(folder: Path, port: int) -> Iterator[None]:
    """`make run`, until its first page; it is ended as Ctrl-C does."""
    needed = ("PATH", "HOME", "LANG", "PIP_", "UV_", "SSL_", "REQUESTS_", "HTTP", "NO_PROXY")
    environment = {name: value for name, value in os.environ.items() if name.upper().startswith(needed)}
    # A small model on a busy machine may take minutes for a story of full length.
    environment["POCKETCHAT_REPLY_TOKENS"] = "400"
    with (folder / "run.out").open("ab") as said:
        make = subprocess.Popen(
            ["make", "run", f"ARGS=--port {port}"],
            cwd=folder,
            env=environment,
            stdout=said,
            stderr=said,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        answered = wait_until(lambda: make.poll() is not None or answers(port), seconds=FIRST_START, pause=0.2)
        assert answered, (folder / "run.out").read_text()
        assert make.poll() is None, (folder / "run.out").read_text()
        yield
        os.killpg(make.pid, signal.SIGINT)
        ended = time.monotonic()
        make.wait(timeout=30)
        assert time.monotonic() - ended < 10, "Ctrl-C took too long"
    finally:
        kill_group(make)


def answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/accounts/login/", timeout=2).status_code == 200
    except httpx.TransportError:
        return False


def answer_of(page: Page) -> Locator:
    return page.locator("article.turn").last.locator(".answer .prose")


def ended(page: Page) -> None:
    expect(page.get_by_role("button", name="Send")).to_be_visible(timeout=ANSWER_MS)


def test_from_an_empty_folder_to_a_chat_that_survives_a_restart(
    browser: Browser, tmp_path: Path, pictures: Path | None
) -> None:
    tmp_path.chmod(0o755)
    clone_into(tmp_path)
    port = free_port()
    address = f"http://localhost:{port}"
    with made_to_run(tmp_path, port):
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        visit = Visit(context, address)
        page = visit.go("/accounts/signup/")
        snap(page, pictures, "sign-up")
        page.get_by_label("Email").fill("newcomer@example.org")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Create account").click()
        page.wait_for_url(f"{address}/")
        snap(page, pictures, "empty")

        visit.ask("What is the capital of France?")
        expect(answer_of(page)).to_contain_text("Paris", timeout=ANSWER_MS)
        ended(page)
        france = page.url.split("#")[0]
        snap(page, pictures, "answered")

        visit.ask("Write a long story about a lighthouse keeper and the sea, in ten paragraphs.")
        expect(page.locator("article.turn")).to_have_count(2)
        expect(answer_of(page)).to_contain_text(re.compile(r"\w+ \w+ \w+ \w+"), timeout=ANSWER_MS)
        snap(page, pictures, "streaming")
        begun = answer_of(page).inner_text()[:20]
        page.reload()
        expect(answer_of(page)).to_contain_text(begun)
        assert answer_of(page).inner_text().startswith(begun)
        ended(page)
        story = answer_of(page).inner_text()
        assert story.startswith(begun)
        snap(page, pictures, "story")

        page.goto(f"{address}/")
        visit.ask("Count from one to five hundred in words, one number a line, and explain each of them.")
        expect(answer_of(page)).to_contain_text(re.compile(r"\w"), timeout=ANSWER_MS)
        page.get_by_role("button", name="Stop the reply").click()
        expect(page.get_by_text("You stopped this reply.")).to_be_visible()
        stopped, kept = page.url.split("#")[0], answer_of(page).inner_text()
        snap(page, pictures, "stopped")
        assert visit.faults == []
        assert visit.elsewhere == []

    with made_to_run(tmp_path, port):
        page.goto(france)
        expect(page.locator("article.turn").first.locator(".prose")).to_contain_text("Paris")
        assert answer_of(page).inner_text() == story
        page.goto(stopped)
        expect(page.get_by_text("You stopped this reply.")).to_be_visible()
        assert answer_of(page).inner_text() == kept
        expect(page.locator(".entry-title")).to_have_count(2)
        page.goto(f"{address}/admin/")
        expect(page.get_by_role("link", name="PocketChat administration")).to_be_visible()  # The first account may.
        context.close()
