"""Files that were sent as a store that an erasure empties: they go with the account, read or not."""

from collections.abc import Collection
from typing import Protocol
from uuid import UUID

from conversations.models import Import
from conversations.transfer.incoming import files, imports


class Named(Protocol):
    """What an erasure names. A conversation's results are rows of its own, which go with it."""

    @property
    def accounts(self) -> Collection[int]: ...


class Imports:
    """Rows and files of accounts; the worker that reads one stops within seconds, and stores nothing more."""

    name = "imports"

    def erase(self, ids: Named) -> int:
        """Returns how many files and rows."""
        found = list(Import.objects.filter(owner__in=ids.accounts).only("owner_id"))
        for run in found:
            imports.remove(run)
        strays = self._files(ids)
        for owner_id, import_id in strays:
            files.drop(owner_id, import_id)
        return len(found) + len(strays)

    def find(self, ids: Named) -> int:
        rows: int = Import.objects.filter(owner__in=ids.accounts).count()
        return rows + len(self._files(ids))

    def _files(self, ids: Named) -> set[tuple[int, UUID]]:
        """Files of accounts whose rows have gone before."""
        known = set(Import.objects.filter(owner__in=ids.accounts).values_list("pk", flat=True))
        return {one for one in files.all_imports() if one[0] in ids.accounts and one[1] not in known}
