"""Static files under their hashed names, collected when one of them has changed."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command


def collect() -> bool:
    """Collect them; False when nothing has changed since the last time."""
    seal = Path(settings.STATIC_ROOT) / ".sources"
    fingerprint = _fingerprint()
    if settings.DEBUG or (seal.exists() and seal.read_text() == fingerprint):
        return False
    call_command("collectstatic", verbosity=0, interactive=False)
    seal.write_text(fingerprint)
    return True


def _fingerprint() -> str:
    return hashlib.sha256("\n".join(sorted(_sources())).encode()).hexdigest()


def _sources() -> Iterator[str]:
    for finder in get_finders():
        for path, storage in finder.list([]):
            facts = Path(storage.path(path)).stat()
            yield f"{path} {facts.st_size} {facts.st_mtime_ns}"
