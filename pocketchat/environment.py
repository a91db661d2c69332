"""The environment and `.env`, read so that a value which cannot be read is named."""

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

FEW = 10

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Names of this machine that no other reaches."""


class Environment(environ.Env):  # type: ignore[misc]  # the package has no types
    def get_value(self, var: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().get_value(var, *args, **kwargs)
        except ValueError as error:
            raise ImproperlyConfigured(f"{var} is {os.environ.get(var)!r}, which cannot be read.") from error


def postgres_database(env: Environment, var: str) -> dict[str, object]:
    """Django's description of the database that a URL in `var` names; another kind of database is refused."""
    refusal = f"{var} must name a PostgreSQL database: postgres://user:password@host/name"
    if not env.str(var).startswith(("postgres://", "postgresql://")):
        raise ImproperlyConfigured(refusal)
    try:
        database: dict[str, object] = env.db(var)
    except ValueError as error:
        raise ImproperlyConfigured(f"{refusal} ({error})") from error
    return database


def choice(env: Environment, var: str, *, default: str, of: Collection[str]) -> str:
    """One of a few words."""
    if (value := env.str(var, default=default)) not in of:
        shown = ", ".join(sorted(of)) if len(of) < FEW else "a name such as Europe/Berlin"
        raise ImproperlyConfigured(f"{var} is {value!r}; it can be {shown}.")
    return str(value)


def made_folder(path: Path) -> str | None:
    """The folder, made if need be; None where that may not be: then the system's own is used."""
    with suppress(OSError):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return str(path)
    return None


def mail_server(env: Environment, var: str, *, default: str) -> dict[str, Any]:
    """Django's settings for the mail server that a URL in `var` names."""
    try:
        server: dict[str, Any] = env.email(var, default=default)
    except (ValueError, KeyError, ImproperlyConfigured) as error:
        raise ImproperlyConfigured(
            f"{var} must be like smtp+tls://user:password@host:587, or consolemail://"
        ) from error
    return server
