"""Log-in attempts are counted; each test begins with none."""

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def _no_attempts_counted() -> None:
    cache.clear()
