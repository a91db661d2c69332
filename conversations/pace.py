"""How often something may be done, counted for all processes together in the cache."""

from django.core.cache import cache


def keeps_pace(what: str, *, most: int, seconds: int = 60) -> bool:
    """Count `what` once more; False: that was more than `most` times within so many seconds.

    Celery's own rate limits would hold the tasks back in a worker, in places that replies wait for.
    """
    key = f"pace:{what}"
    cache.add(key, 0, timeout=seconds)
    try:
        return bool(cache.incr(key) <= most)
    except ValueError:  # Its time was over between the two.
        return True
