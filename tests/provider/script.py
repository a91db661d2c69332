"""Which reply comes next: first the rules that match, then the queue, then the default."""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.provider.replies import Body, Reply
from tests.provider.tokens import newest_question

Match = Callable[[Body], bool] | str


@dataclass(slots=True)
class _Rule:
    match: Match
    replies: deque[Reply]

    def fits(self, body: Body) -> bool:
        if isinstance(self.match, str):
            return self.match in newest_question(body)
        return self.match(body)

    def take(self) -> Reply:
        return self.replies.popleft() if len(self.replies) > 1 else self.replies[0]


@dataclass(slots=True)
class Script:
    """Written by the test's thread, read by the server's."""

    default: Reply
    _rules: list[_Rule] = field(default_factory=list)
    _queue: deque[Reply] = field(default_factory=deque)
    # A rule's function may itself add to the script.
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def add(self, *replies: Reply) -> None:
        """Each answers one request, in order. A client's retry is a request of its own."""
        with self._lock:
            self._queue.extend(replies)

    def on(self, match: Match, *replies: Reply) -> None:
        """Answer requests that match, in order; the last reply repeats. A text is looked for in the newest question."""
        if not replies:
            raise ValueError("A rule needs a reply.")
        with self._lock:
            self._rules.append(_Rule(match, deque(replies)))

    def next_reply(self, body: Body) -> Reply:
        with self._lock:
            for rule in self._rules:
                if rule.fits(body):
                    return rule.take()
            return self._queue.popleft() if self._queue else self.default

    def clear(self) -> None:
        with self._lock:
            self._rules.clear()
            self._queue.clear()
