"""The secret key of an embedded installation: made once, kept beside its data."""

import os
from pathlib import Path

from django.core.management.utils import get_random_secret_key


def kept_secret_key(path: Path) -> str:
    """Read the key at `path`, or make it; two processes that start together end up with the same one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    if not path.exists():
        try:
            draft.touch(mode=0o600)
            draft.write_text(get_random_secret_key())
            os.link(draft, path)
        except FileExistsError:
            pass  # Another process was first; its key is the key.
        finally:
            draft.unlink(missing_ok=True)
    return path.read_text()
