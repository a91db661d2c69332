"""The environment and `.env`, read so that a value which cannot be read is named."""

import os
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured


class Environment(environ.Env):  # type: ignore[misc]  # the package has no types
    def get_value(self, var: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().get_value(var, *args, **kwargs)
        except ValueError as error:
            raise ImproperlyConfigured(f"{var} is {os.environ.get(var)!r}, which cannot be read.") from error
