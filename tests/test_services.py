"""What the plugin gives each worker of a test run."""

import pytest

from tests.services import redis_url_of


@pytest.mark.parametrize(
    ("worker", "url", "expected"),
    [
        ("", "unix:///run/valkey.sock?db=0", "unix:///run/valkey.sock?db=0"),
        ("gw0", "unix:///run/valkey.sock?db=0", "unix:///run/valkey.sock?db=1"),
        ("gw2", "redis://cache:6379/0", "redis://cache:6379/3"),
        ("gw2", "redis://:secret@cache", "redis://:secret@cache/3"),
    ],
)
def test_each_worker_has_a_redis_database_of_its_own(worker: str, url: str, expected: str) -> None:
    assert redis_url_of(worker, url) == expected
