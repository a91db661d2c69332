"""Logs: one JSON object a line, with ids, sizes and times, never with what people wrote.

A process writes to standard error or, when `manage.py up` gave it a name, to its own rotated file
(`var/log/<process>.jsonl`) alone, so that lines can be aged out and taken out by id.
"""

import logging
import logging.config
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

import structlog
from django.http import HttpRequest

from pocketchat.faults import tell_fault

FILE_BYTES = 10_000_000
FILES_KEPT = 5


_shared: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    tell_fault,
]


class Routes(logging.Filter):
    """Django names the address it could not serve, and people type into addresses, too: its route says as much."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        if isinstance(request, HttpRequest) and isinstance(record.args, tuple):
            route = request.resolver_match.route if request.resolver_match else "an unknown address"
            # Addresses are arguments, escaped in a way of Django's own; all that begins with a slash is one.
            told = (route if str(one).startswith("/") else one for one in record.args)
            # After a dash comes what a request claimed: the origin that was not believed.
            record.args = tuple(one.partition(" - ")[0] if isinstance(one, str) else one for one in told)
        return True


def logging_config(*, folder: Path, process: str, debug: bool) -> dict[str, Any]:
    """Describe the handlers; `configure` puts them in force."""
    handler = _file_handler(folder / f"{process}.jsonl") if process else {"class": "logging.StreamHandler"}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _shared,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    structlog.processors.JSONRenderer(),
                ],
            }
        },
        "filters": {"routes": {"()": Routes}},
        "handlers": {"lines": {**handler, "formatter": "json", "filters": ["routes"]}},
        "root": {"handlers": ["lines"], "level": "DEBUG" if debug else "INFO"},
        # Libraries that would write what people wrote, or their addresses, at debug level, and those that
        # have a line for every tick of the clock.
        "loggers": {
            # uvicorn has given these handlers and a form of their own.
            **{name: {"level": "INFO", "handlers": [], "propagate": True} for name in ("uvicorn", "uvicorn.error")},
            # Django's own handlers write whole messages to the terminal in debug mode, and mail them to ADMINS else.
            **{name: {"level": "INFO", "handlers": [], "propagate": True} for name in ("django", "django.server")},
            # Addresses hold what people search for.
            "uvicorn.access": {"level": "WARNING", "handlers": [], "propagate": True},
        }
        | {
            name: {"level": "WARNING"}
            for name in (
                "httpx",
                "httpx2",
                "httpcore",
                "openai",
                "anthropic",
                "markdown_it",
                "asyncio",
                "urllib3",
                "django.db",
                "celery.app.trace",
                "celery.beat",
                "celery.worker.strategy",
                "django_celery_beat",
            )
        },
    }


def _file_handler(path: Path) -> dict[str, Any]:
    return {
        "class": "conversations.log_files.FileHandler",
        "filename": str(path),
        "max_bytes": FILE_BYTES,
        "files_kept": FILES_KEPT,
    }


def _tell_uncaught(kind: type[BaseException], fault: BaseException | None, trace: TracebackType | None) -> None:
    """What nobody caught is told as everything else is: Python would print its message, which may quote somebody."""
    if fault is not None and not issubclass(kind, KeyboardInterrupt | SystemExit):
        structlog.get_logger(__name__).critical("uncaught", exc_info=(kind, fault, trace))


def configure(config: dict[str, Any]) -> None:
    """Set up structlog on top of the standard library's logging."""
    for handler in config["handlers"].values():
        if "filename" in handler:
            Path(handler["filename"]).parent.mkdir(parents=True, exist_ok=True)
            sys.excepthook = _tell_uncaught
    threading.excepthook = lambda broke: _tell_uncaught(broke.exc_type, broke.exc_value, broke.exc_traceback)
    logging.config.dictConfig(config)
    structlog.configure(
        processors=[*_shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
