"""Exports as a store that an erasure empties: a file that holds what is erased goes with it."""

from collections.abc import Collection
from typing import Protocol
from uuid import UUID

from django.db.models import Q

from conversations.models import Export
from conversations.querysets import ExportQuerySet
from conversations.transfer import exports, files


class Named(Protocol):
    """What an erasure names: conversations and accounts that are gone with all they had."""

    @property
    def conversations(self) -> Collection[UUID]: ...

    @property
    def accounts(self) -> Collection[int]: ...


class Exports:
    """Rows and files. One that holds a single erased conversation is removed whole: its owner has another one made."""

    name = "exports"

    def erase(self, ids: Named) -> int:
        """Returns how many exports."""
        found = list(self._rows(ids))
        for export in found:
            exports.remove(export)
        strays = self._files(ids)
        for owner_id, export_id in strays:
            files.drop(owner_id, export_id)
        return len(found) + len(strays)

    def find(self, ids: Named) -> int:
        rows: int = self._rows(ids).count()
        return rows + len(self._files(ids))

    def _rows(self, ids: Named) -> ExportQuerySet:
        held = Q(conversations__overlap=list(ids.conversations)) if ids.conversations else Q()
        owned = Q(owner__in=list(ids.accounts))
        found: ExportQuerySet = Export.objects.filter(held | owned if held else owned).only("owner_id")
        return found

    def _files(self, ids: Named) -> set[tuple[int, UUID]]:
        """Files of accounts whose rows have gone before."""
        known = set(Export.objects.filter(owner__in=list(ids.accounts)).values_list("pk", flat=True))
        found = {(owner_id, pk) for owner_id, pk in files.all_exports() if owner_id in ids.accounts}
        return {one for one in found if one[1] not in known}
