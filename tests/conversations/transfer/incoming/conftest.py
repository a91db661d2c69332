"""A worker's work in the tests' own process, on a real file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User
from conversations.models import Import
from conversations.transfer.incoming import imports, running
from pocketchat.embedded.places import Places

BringIn = Callable[..., Import]


@pytest.fixture(autouse=True)
def places(settings: Settings, tmp_path: Path) -> Places:
    made = Places(var=tmp_path)
    settings.PLACES = made
    return made


@pytest.fixture
def bring_in(owner: User) -> BringIn:
    """Send a file and have it read; the import as it is afterwards."""

    def bring(sent: bytes, user: User | None = None, **options: Any) -> Import:
        limits = {"limits": options.pop("limits")} if "limits" in options else {}
        run = imports.take(user or owner, [sent], file_name="export.zip", now=timezone.now(), **options)
        running.run(run.pk, **limits)
        run.refresh_from_db()
        return run

    return bring
