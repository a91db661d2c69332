"""A connection from the pool that is known to be alive.

The pool's own check finds dead connections one by one, with a growing pause after each: after a restart of the
database a web process with a grown pool would fail for half a minute. Connections of one server die together, so the
first dead one has them all looked at, without a pause.

A server that ends says so, or the line is closed: where there is nothing to be read, it is not asked for an answer,
which every request, and every look whether a reply has ended, would wait for.
"""

import select
from typing import Any

from django.db.backends.postgresql import base
from psycopg import Connection, OperationalError


class DatabaseWrapper(base.DatabaseWrapper):
    """Needs `CONN_HEALTH_CHECKS` off, which would have the pool check once more in its own way."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Raises `OperationalError` when no living connection came within the pool's time-out."""
        connection = super().get_new_connection(conn_params)
        while self.pool and not self._is_alive(connection):
            self.pool.putconn(connection)
            self.pool.check()
            connection = super().get_new_connection(conn_params)
        return connection

    def _is_alive(self, connection: Connection[Any]) -> bool:
        if not _has_news(connection):
            return True
        try:
            self.pool.check_connection(connection)
        except OperationalError:
            return False
        return True


def _has_news(connection: Connection[Any]) -> bool:
    """Whether the server has sent what nobody asked for, or closed the line."""
    line = select.poll()
    line.register(connection.fileno(), select.POLLIN)
    return bool(line.poll(0))
