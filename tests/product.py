"""The whole product under its supervisor, answering through the scripted provider: what is killed is started again."""

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psutil

from pocketchat.embedded.places import Places
from tests.embedded.running import RUNNING, Up, started
from tests.factories import PASSWORD
from tests.provider import ScriptedProvider
from tests.stack import Caller

SILENCE = 4.0
"""Seconds the provider may be silent in these tests."""


@dataclass
class Product:
    """The running product and what one does to it."""

    up: Up
    provider: ScriptedProvider
    places: Places

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.up.port}"

    def kill(self, name: str) -> None:
        """`kill -9` one process and wait for the next."""
        old = self.up.family()[name]
        _signal(old, signal.SIGKILL)
        assert self.up.replaces(name, old), self.up.output.read_text()

    @contextmanager
    def hanging(self, name: str) -> Iterator[None]:
        """It is there and does not answer."""
        process = self.up.family()[name]
        _signal(process, signal.SIGSTOP)
        try:
            yield
        finally:
            _signal(process, signal.SIGCONT)

    def browser(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=30)

    def post(self, browser: httpx.Client, path: str, **fields: str) -> httpx.Response:
        """Send the form of a page."""
        browser.get(path)
        return browser.post(path, data={**fields, "csrfmiddlewaretoken": browser.cookies["csrftoken"]})

    def new_caller(self, email: str) -> Caller:
        """Sign up, and make a token on its page, as a person would."""
        with self.browser() as browser:
            assert self.post(browser, "/accounts/signup/", email=email, password1=PASSWORD).status_code == 302
            assert self.post(browser, "/accounts/reauthenticate/", password=PASSWORD).status_code == 302
            assert self.post(browser, "/accounts/tokens/", life="30").status_code == 302
            page = browser.get("/accounts/tokens/").text
        token = re.search(r"\b[0-9a-f]{64}\b", page)
        assert token, page
        return Caller(self.url, token[0])


@contextmanager
def running_product() -> Iterator[Product]:
    """In a folder of its own: another run of the tests closes those below pytest's to the account of PostgreSQL."""
    with (
        TemporaryDirectory(prefix="pocketchat-product-") as folder,
        ScriptedProvider() as provider,
        started(
            Path(folder) / "var",
            POCKETCHAT_CHAT_MODEL="openai:scripted",
            POCKETCHAT_TITLES="false",
            POCKETCHAT_SUMMARIES="false",
            POCKETCHAT_RECALL="false",
            POCKETCHAT_CHAT_BASE_URL=provider.openai_url,
            POCKETCHAT_CHAT_API_KEY="sk-test",
            POCKETCHAT_LEASE="4",
            POCKETCHAT_PROVIDER_SILENCE=str(SILENCE),
        ) as up,
    ):
        assert up.says(RUNNING), up.output.read_text()
        yield Product(up, provider, Places(var=Path(folder) / "var"))


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    """To it and all below it; one that has ended meanwhile is passed over."""
    with suppress(psutil.NoSuchProcess):
        for each in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                each.send_signal(number)
