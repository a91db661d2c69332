"""Redis or Valkey of somebody else, before the product starts: is it there."""

import redis

from pocketchat.embedded.errors import CannotStart

CONNECT_SECONDS = 5


def expect_answer(url: str) -> None:
    """Ask once.

    Raises:
        CannotStart: with the reason.
    """
    try:
        with redis.Redis.from_url(
            url, socket_connect_timeout=CONNECT_SECONDS, socket_timeout=CONNECT_SECONDS
        ) as client:
            client.ping()
    except (redis.RedisError, OSError, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise CannotStart(f"The Redis or Valkey of REDIS_URL cannot be used: {reason}.") from error
