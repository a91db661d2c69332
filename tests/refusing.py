"""A database that takes most rows and refuses some, as a constraint would that nobody thought of."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def refusing(table: str, when: str) -> Iterator[None]:
    """Meanwhile rows of `table` for which `when` holds, SQL about NEW, are not written. Outside of transactions."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$")
        cursor.execute(
            f"CREATE TRIGGER refused BEFORE INSERT OR UPDATE ON {table} "
            f"FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION refuse()"
        )
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION refuse() CASCADE")
