"""The cache with Redis, and without it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from pocketchat import cache
from pocketchat.cache import Cache


@pytest.fixture(autouse=True)
def _redis_is_thought_to_be_there() -> Iterator[None]:
    cache._away_until = 0.0
    yield
    cache._away_until = 0.0


@pytest.fixture
def without_redis(tmp_path: Path) -> Cache:
    return Cache(f"unix://{tmp_path}/nobody.sock", {})


def test_what_is_written_to_redis_is_found_by_every_process() -> None:
    one, other = (Cache(settings.REDIS_URL, {}) for _ in range(2))
    one.set("tries", 3)
    assert other.get("tries") == 3
    assert one.incr("tries") == 4
    one.delete("tries")
    assert other.get("tries") is None


def test_without_redis_tries_are_still_counted(without_redis: Cache) -> None:
    assert without_redis.add("lock", True, timeout=10)
    assert not without_redis.add("lock", True, timeout=10)
    without_redis.set("tries", [1.0, 2.0], 10)
    assert without_redis.get("tries", []) == [1.0, 2.0]
    without_redis.delete("tries")
    assert without_redis.get("tries", []) == []


def test_a_redis_that_is_away_is_not_asked_by_everybody(without_redis: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    without_redis.get("anything")
    working = Cache(settings.REDIS_URL, {})
    working.set("anything", "in memory")
    monkeypatch.setattr(cache, "_away_until", 0.0)
    assert working.get("anything") is None


def test_only_a_fault_of_redis_is_passed_over(without_redis: Cache) -> None:
    with pytest.raises(ValueError, match="not found"):
        without_redis.incr("unknown")
