"""Deleted rows stay in the files of a database until it needs the room: here it is made to let go of them."""

import time
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db import connection
from redis import Redis
from redis.exceptions import ResponseError

PATIENCE = 600.0
"""Seconds for Redis to rewrite its files."""
PAUSE = 0.2

TABLES_SQL = """
    SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables
    WHERE schemaname = current_schema() ORDER BY pg_total_relation_size(quote_ident(tablename)::regclass)
"""


def rewrite_tables() -> Iterator[str]:
    """Each anew, with its indexes, the smallest first; yields the name of each that is done.

    What the planner knows of the values of a column is made anew, too, where we may.
    """
    with connection.cursor() as cursor:
        cursor.execute(TABLES_SQL)
        for (table,) in cursor.fetchall():
            cursor.execute(f"VACUUM (FULL, ANALYZE) {table}")
            yield str(table)
        if _is_superuser(cursor):
            cursor.execute("VACUUM FULL pg_catalog.pg_statistic")


def remove_old_log() -> str:
    """Of what was written before; returns a sentence when that is for somebody else to do.

    PostgreSQL lets go of a file of its log when a checkpoint lies behind it.
    """
    with connection.cursor() as cursor:
        if not _is_superuser(cursor):
            return (
                "The write-ahead log is not ours to remove: have a superuser run CHECKPOINT; SELECT pg_switch_wal(); "
                "CHECKPOINT; and remember archives and replicas."
            )
        for _ in range(2):
            cursor.execute("CHECKPOINT")
            cursor.execute("SELECT pg_switch_wal()")
        cursor.execute("CHECKPOINT")
    return ""


def _is_superuser(cursor: Any) -> bool:
    cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
    return bool(cursor.fetchone()[0])


def rewrite_redis() -> None:
    """Its append-only file, and its snapshot where it keeps one.

    Raises:
        RedisError: it did not, or not in time.
    """
    with Redis.from_url(settings.REDIS_URL, decode_responses=True) as redis:
        persistence: Any = redis.info("persistence")
        if persistence.get("aof_enabled"):
            redis.bgrewriteaof()
            _await(redis, "aof_rewrite_in_progress", "aof_rewrite_scheduled", status="aof_last_bgrewrite_status")
        if redis.config_get("save").get("save"):
            redis.bgsave()
            _await(redis, "rdb_bgsave_in_progress", status="rdb_last_bgsave_status")


def _await(redis: Redis, *running: str, status: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        persistence: Any = redis.info("persistence")
        if not any(persistence.get(name) for name in running):
            break
        if time.monotonic() > deadline:
            raise ResponseError("still rewriting")
        time.sleep(PAUSE)
    if persistence.get(status) != "ok":
        raise ResponseError(status)
