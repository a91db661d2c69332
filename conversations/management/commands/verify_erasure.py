"""`manage.py verify_erasure`: is anything left of what receipts say was erased, and does anything belong to nothing?"""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from conversations.models import Erasure
from conversations.retention import orphans
from conversations.retention.ids import Ids, all_of
from conversations.retention.looks import find_each
from conversations.retention.manifest import STORES

AT_ONCE = 200
"""Receipts looked for together: every log file is read once for all of them."""


class Command(BaseCommand):
    help = (
        "Look for everything that receipts name, in every store, and for orphans in all tables and in Redis. Prints "
        "ids and counts alone. The exit status is 0 when nothing was found, 1 otherwise. Changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--ids", nargs="+", type=UUID, help="look for these conversations and turns alone")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002  # Django's signature
        found: Counter[str] = Counter()
        if ids := options["ids"]:
            found += self._left([("these", Ids(frozenset(ids), frozenset(ids)))])
            looked = f"{len(ids)} ids"
        else:
            receipts = 0
            for part in _parts(_receipts()):
                receipts += len(part)
                found += self._left(part)
            found += self._orphans()
            looked = f"{receipts} receipts"
        if found:
            raise CommandError(f"Looked for {looked}: {found.total()} left.", returncode=1)
        self.stdout.write(f"Looked for {looked}: nothing is left.")

    def _left(self, part: Sequence[tuple[str, Ids]]) -> Counter[str]:
        """First all together, which is quick; where something is found, each for itself, to say which."""
        counts: Counter[str] = Counter()
        together = all_of(ids for _, ids in part)
        for store in STORES:
            if not store.find(together):
                continue
            for (name, _), left in zip(part, find_each(store, [ids for _, ids in part]), strict=True):
                if left:
                    self.stdout.write(f"{store.name}: {left} of {name}")
                    counts[store.name] += left
        return counts

    def _orphans(self) -> Counter[str]:
        counts = orphans.found()
        for name, count in counts.items():
            self.stdout.write(f"{name}: {count} that belong to nothing")
        return counts


def _receipts() -> Iterator[tuple[str, Ids]]:
    """Of erasures that are done; the others are under way."""
    for erasure in Erasure.objects.filter(erased_at__isnull=False).order_by("pk").iterator(chunk_size=AT_ONCE):
        yield f"receipt {erasure.pk}", Ids.of(erasure)


def _parts(receipts: Iterator[tuple[str, Ids]]) -> Iterator[list[tuple[str, Ids]]]:
    while part := list(islice(receipts, AT_ONCE)):
        yield part
