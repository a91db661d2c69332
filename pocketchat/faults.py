"""An exception as a log may tell it: what kind and where, never what somebody wrote.

Messages quote: PostgreSQL the row it refuses, Python the text it cannot read, a form the value it was given. So a
message is kept only where it is known to speak of machines, and of a database error its code and names in the schema.
"""

import re
import sys
import traceback
from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import cast

import psycopg
from structlog.typing import EventDict, WrappedLogger

FRAMES = 60
"""The innermost ones are kept."""
CHARACTERS = 300
"""Of a message that is kept."""
SHORTEST_QUOTE = 4
"""Characters; a shorter message would be found in ids and figures, too."""
PLAIN = frozenset(
    {
        "builtins.AttributeError",
        "builtins.ImportError",
        "builtins.NameError",
        "django.core.exceptions.ImproperlyConfigured",
        "django.db.utils.InterfaceError",
        "django.db.utils.OperationalError",
        "kombu.exceptions.OperationalError",
        "psycopg.InterfaceError",
        "psycopg.OperationalError",
        "redis.exceptions.ConnectionError",
        "redis.exceptions.TimeoutError",
    }
)
"""Kinds, with all below them, whose messages name hosts, modules and settings."""
_QUOTING = re.compile(r"(?:\n|\\n)\s*(?:DETAIL|CONTEXT|HINT|QUERY|STATEMENT|LINE \d+|Traceback \(most).*", re.DOTALL)
"""From where on a message of PostgreSQL's, also inside a `repr`, tells what was in the row or the statement."""


def tell_fault(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """A structlog processor: `exc_info` becomes `exception`, and the line's own words lose what they quote of it."""
    fault, trace = _fault_of(event.pop("exc_info", None))
    if fault is not None:
        event["exception"] = "\n".join(_told(fault, trace))
    if isinstance(words := event.get("event"), str):
        event["event"] = _without_quotes(words, fault)
    return event


def _fault_of(info: object) -> tuple[BaseException | None, TracebackType | None]:
    """The exception of whatever a logger calls `exc_info`, and its traceback."""
    match info:
        case BaseException():
            return info, info.__traceback__
        case (_, BaseException() as fault, trace):
            return fault, cast("TracebackType | None", trace)
    return sys.exc_info()[1:] if info else (None, None)


def _told(fault: BaseException, trace: TracebackType | None) -> Iterator[str]:
    """Lines: the exception, then what it came from; the members of a group are indented."""
    for each in _lineage(fault):
        yield _named(each) if each is fault else f"caused by {_named(each)}"
        for frame, line in deque(traceback.walk_tb(trace if each is fault else each.__traceback__), maxlen=FRAMES):
            yield f"  {frame.f_code.co_filename}:{line} in {frame.f_code.co_name}"
        if isinstance(each, BaseExceptionGroup):
            for member in each.exceptions:
                yield from (f"  | {told}" for told in _told(member, member.__traceback__))


def _named(fault: BaseException) -> str:
    facts = _facts(fault)
    return f"{_kind(type(fault))}: {facts}" if facts else _kind(type(fault))


def _facts(fault: BaseException) -> str:
    """What may be said of it beside its kind."""
    if isinstance(fault, OSError) and fault.errno is not None:
        return f"[Errno {fault.errno}] {fault.strerror}"  # Without the name of the file.
    if _is_plain(fault):
        return _QUOTING.sub("", str(fault)).strip()[:CHARACTERS]
    if isinstance(fault, psycopg.Error):
        named = fault.diag
        facts = (fault.sqlstate, named.table_name, named.column_name, named.constraint_name)
        return " ".join(fact for fact in facts if fact)
    return ""


def _without_quotes(words: str, fault: BaseException | None) -> str:
    for quoted in _family(fault) if fault is not None else ():
        if not _is_plain(quoted):
            for quote in (repr(quoted), str(quoted)):
                if len(quote) >= SHORTEST_QUOTE:
                    words = words.replace(quote, type(quoted).__name__)
    return _QUOTING.sub("", words)


def _family(fault: BaseException) -> Iterator[BaseException]:
    """The exception, what it came from, and the members of groups among them."""
    for each in _lineage(fault):
        yield each
        if isinstance(each, BaseExceptionGroup):
            for member in each.exceptions:
                yield from _family(member)


def _lineage(fault: BaseException) -> Iterator[BaseException]:
    """The exception and what it came from, each once: somebody may have tied them in a ring."""
    seen: set[int] = set()
    each: BaseException | None = fault
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)


def _is_plain(fault: BaseException) -> bool:
    return any(_kind(kind) in PLAIN for kind in type(fault).__mro__)


def _kind(kind: type[BaseException]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
