"""`manage.py compact`: what was deleted leaves the files on disk as well."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error as DatabaseError
from redis.exceptions import RedisError

from pocketchat import compacting


class Command(BaseCommand):
    help = (
        "Rewrite the tables of PostgreSQL and the files of Valkey without what was deleted, and have old write-ahead "
        "log removed. Each table is locked while it is rewritten, so people wait: run it when few are there."
    )

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002  # Django's signature
        try:
            for table in compacting.rewrite_tables():
                self.stdout.write(f"Rewritten: {table}")
            left = compacting.remove_old_log()
        except DatabaseError as error:
            raise CommandError(f"PostgreSQL would not ({type(error).__name__}). Nothing is lost.") from error
        if left:
            self.stdout.write(left)
        try:
            compacting.rewrite_redis()
        except RedisError as error:
            raise CommandError(f"Redis would not ({type(error).__name__}). Nothing is lost.") from error
        self.stdout.write("Redis has rewritten its files.")
