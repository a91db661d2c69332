"""What was asked of the provider, and how each answer went. Times are `time.monotonic()`, in seconds."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.provider.replies import Body

EndedBy = Literal["finished", "client", "provider"]


@dataclass(slots=True, eq=False)
class RecordedRequest:
    """`ended_by`: the answer was finished, the client closed the connection, or the provider hung up."""

    number: int
    path: str
    headers: Mapping[str, str]
    body: Body
    arrived_at: float
    delta_times: list[float] = field(default_factory=list)
    ended_at: float | None = None
    ended_by: EndedBy | None = None
    _ended: threading.Event = field(default_factory=threading.Event)

    def end(self, ended_by: EndedBy) -> None:
        self.ended_at = time.monotonic()
        self.ended_by = ended_by
        self._ended.set()

    def wait_until_ended(self, timeout: float = 5.0) -> EndedBy:
        """Blocks; from a coroutine call it through `asyncio.to_thread`. Raises TimeoutError."""
        if not self._ended.wait(timeout) or self.ended_by is None:
            raise TimeoutError(f"The answer to request {self.number} still runs after {timeout} s.")
        return self.ended_by

    def as_json(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "path": self.path,
            "headers": dict(self.headers),
            "body": self.body,
            "arrived_at": self.arrived_at,
            "delta_times": list(self.delta_times),
            "ended_at": self.ended_at,
            "ended_by": self.ended_by,
        }


class RequestLog:
    def __init__(self) -> None:
        self._requests: list[RecordedRequest] = []
        self._total = 0
        self._changed = threading.Condition()

    def open(self, *, path: str, headers: Mapping[str, str], body: Body) -> RecordedRequest:
        """Numbers never repeat, even after `clear`: the ids of answers are made from them."""
        with self._changed:
            self._total += 1
            request = RecordedRequest(self._total, path, headers, body, time.monotonic())
            self._requests.append(request)
            self._changed.notify_all()
        return request

    def all(self) -> list[RecordedRequest]:
        with self._changed:
            return list(self._requests)

    def clear(self) -> None:
        with self._changed:
            self._requests.clear()

    def wait_for(self, count: int, timeout: float) -> list[RecordedRequest]:
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._requests) >= count, timeout):
                raise TimeoutError(f"{len(self._requests)} of {count} requests arrived within {timeout} s.")
            return list(self._requests)
