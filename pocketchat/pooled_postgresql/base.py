"""A connection from the pool that is known to be alive.

The pool's own check finds dead connections one by one, with a growing pause after each: after a restart of the
database a web process with a grown pool would fail for half a minute. Connections of one server die together, so the
first dead one has them all looked at, without a pause.
"""

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
        try:
            self.pool.check_connection(connection)
        except OperationalError:
            return False
        return True
