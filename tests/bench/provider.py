"""The scripted provider in a process of its own: in one interpreter with the clients, each would measure the other."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.provider import Reply
from tests.provider.control import reply_as_json
from tests.stack import ROOT


class Provider:
    """Driven over HTTP, see `tests.provider.control`."""

    def __init__(self, url: str) -> None:
        self.openai_url = f"{url}/v1"
        self._http = httpx.Client(base_url=url)

    def on(self, text: str, reply: Reply) -> None:
        """Answer questions that contain the text."""
        self._http.post("/script", json={"on": text, "replies": [reply_as_json(reply)]}).raise_for_status()

    def times(self) -> dict[str, list[float]]:
        """When each delta was sent, by the question; seconds of the monotonic clock, which processes share."""
        requests = self._http.get("/requests", timeout=60).raise_for_status().json()
        return {request["body"]["messages"][-1]["content"]: request["delta_times"] for request in requests}

    def close(self) -> None:
        self._http.close()


@contextmanager
def provider_process() -> Iterator[Provider]:
    command = (sys.executable, "-m", "tests.provider")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout
        provider = Provider(process.stdout.readline().strip())
        try:
            yield provider
        finally:
            provider.close()
            process.terminate()
