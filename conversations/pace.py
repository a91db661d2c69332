"""How often something may be done, counted for all processes together in the cache."""

from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache

from accounts.models import User

MOST_RECALLS = 60
"""Of one person, a minute: each may embed its question, and up to 64 messages."""


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


def may_recall(user: User | AnonymousUser) -> bool:
    """Count a recall that a person has done for no reply: there is no end to those, and a provider may take money."""
    return keeps_pace(f"recalls:{user.pk}", most=MOST_RECALLS)
