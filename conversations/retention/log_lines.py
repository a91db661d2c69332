"""Lines of this machine's log files that carry an erased id. They say nothing of what was said, and go all the same."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings

from conversations import log_files
from conversations.retention.ids import Ids, all_of


class LogLines:
    """All files are read for whatever is looked for, so many erasures are looked for together."""

    name = "log lines"

    def erase(self, ids: Ids) -> int:
        return self.erase_each([ids])[0]

    def find(self, ids: Ids) -> int:
        return self.find_each([ids])[0]

    def erase_each(self, many: Sequence[Ids]) -> list[int]:
        return _of_each(many, log_files.remove_lines(settings.PLACES.logs, all_of(many).names))

    def find_each(self, many: Sequence[Ids]) -> list[int]:
        return _of_each(many, log_files.count_lines(settings.PLACES.logs, all_of(many).names))


def _of_each(many: Sequence[Ids], lines: Counter[str]) -> list[int]:
    return [sum(lines[name] for name in ids.names) for ids in many]


def age_out(days: int, *, now: datetime) -> int:
    """Take out lines that are older than so many days; returns how many."""
    return log_files.age_out(settings.PLACES.logs, before=now - timedelta(days=days))
