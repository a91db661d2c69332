"""A viewer of server-sent events, as a browser is one."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx


@dataclass
class Viewer:
    """What a browser would show: deltas appended, a snapshot in place of everything."""

    text: str = ""
    status: str = ""
    last_id: str = ""
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Names and states of the tools that were called, in order."""

    def take(self, event: str, data: dict[str, Any], event_id: str) -> None:
        self.events.append((event, data))
        self.last_id = event_id or self.last_id
        if event == "delta":
            self.text += data["text"]
        elif event == "snapshot":
            self.text, self.calls = data["text"], []
        elif event == "tool":
            known = [call["id"] for _, call in self.calls]
            place = known.index(data["id"]) if data["id"] in known else len(known)
            self.calls[place : place + 1] = [(data["name"], data)]
        elif event == "done":
            self.status = data["status"]
            self.text = data.get("text", self.text)

    def watch(self, http: httpx.Client, turn_id: str, *, at_most: int | None = None) -> "Viewer":
        """Follow the turn to its end, or leave after `at_most` events; continue where it left off last time."""
        headers = {"Last-Event-ID": self.last_id} if self.last_id else {}
        with http.stream("GET", f"turns/{turn_id}/events", headers=headers) as response:
            assert response.status_code == 200, response.read()
            told = (one for one in parsed(response.iter_lines()) if one[0] != "hello")
            for number, (event, data, event_id) in enumerate(told, start=1):
                self.take(event, data, event_id)
                if event == "done" or number == at_most:
                    break
        return self


def parsed(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Events of a stream; comments and settings are passed over."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "data" in fields:
            yield fields.get("event", "message"), json.loads(fields["data"]), fields.get("id", "")
            fields = {}
        else:
            fields = {}
