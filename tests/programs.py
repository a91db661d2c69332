"""Programs of the system that tests need: where one is missing they say how to get it, and in CI they fail."""

import os
import shutil
from pathlib import Path

import pytest

SBIN = "/usr/sbin:/usr/local/sbin"
"""Where servers are, and the paths of ordinary people do not lead."""


def program(*names: str, override: str = "", missing: str) -> str:
    """The path of the first that is there; what the variable `override` names comes first."""
    path = f"{os.environ.get('PATH', os.defpath)}:{SBIN}"
    found = os.environ.get(override) or next(filter(None, (shutil.which(name, path=path) for name in names)), None)
    if found:
        return str(Path(found))
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)
