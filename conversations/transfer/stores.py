"""Exports and imports as stores that an erasure empties: rows, and files whose rows have gone before."""

from collections.abc import Callable, Collection, Iterator
from typing import Any, Protocol
from uuid import UUID

from django.db.models import Q

from conversations.models import Export, Import
from conversations.querysets import TransferQuerySet
from conversations.transfer import exports
from conversations.transfer import files as exported
from conversations.transfer.incoming import files as received
from conversations.transfer.incoming import imports


class Named(Protocol):
    """What an erasure names: conversations and accounts that are gone with all they had."""

    @property
    def conversations(self) -> Collection[UUID]: ...

    @property
    def accounts(self) -> Collection[int]: ...


class Transfers:
    """Of accounts. Whoever makes or reads one stops within seconds."""

    def __init__(
        self,
        name: str,
        *,
        rows: Callable[[], TransferQuerySet],
        files: Callable[[], Iterator[tuple[int, UUID]]],
        remove: Callable[[Any], None],
        drop: Callable[[int, UUID], None],
        holding: Callable[[Named], Q] = lambda _: Q(pk__in=[]),
    ) -> None:
        """`holding`: which rows have to go since something that they hold was erased, whoever owns them."""
        self.name = name
        self._all_rows, self._all_files = rows, files
        self._remove, self._drop, self._holding = remove, drop, holding

    def erase(self, ids: Named) -> int:
        """Returns how many rows with their files, and files without rows."""
        found = list(self._rows(ids).only("owner_id"))
        for one in found:
            self._remove(one)
        strays = self._strays(ids)
        for owner_id, pk in strays:
            self._drop(owner_id, pk)
        return len(found) + len(strays)

    def find(self, ids: Named) -> int:
        return int(self._rows(ids).count()) + len(self._strays(ids))

    def _rows(self, ids: Named) -> TransferQuerySet:
        return self._all_rows().filter(Q(owner__in=list(ids.accounts)) | self._holding(ids))

    def _strays(self, ids: Named) -> set[tuple[int, UUID]]:
        known = set(self._all_rows().filter(owner__in=list(ids.accounts)).values_list("pk", flat=True))
        return {one for one in self._all_files() if one[0] in ids.accounts and one[1] not in known}


EXPORTS = Transfers(
    "exports",
    rows=Export.objects.all,
    files=exported.all_exports,
    remove=exports.remove,
    drop=exported.drop,
    # One that holds a single erased conversation is removed whole: its owner has another one made.
    holding=lambda ids: Q(conversations__overlap=list(ids.conversations)) if ids.conversations else Q(pk__in=[]),
)
IMPORTS = Transfers(
    "imports",
    rows=Import.objects.all,
    files=received.all_imports,
    remove=imports.remove,
    drop=received.drop,
)
"""What is told of a conversation that was brought in are rows of its own, which go with it."""
