"""One import, by a worker: the file is read as it comes, each conversation is stored whole or refused."""

import time
from collections.abc import Iterator
from typing import IO
from uuid import UUID

import structlog
from django.db import DataError, IntegrityError, transaction
from django.utils import timezone

from conversations.models import Import, ImportResult
from conversations.text import line, preview
from conversations.transfer.incoming import files, imports, known, reading, writing
from conversations.transfer.incoming.containers import Archive, Container, opened_container
from conversations.transfer.incoming.formats import EXPECTED, Format, format_of
from conversations.transfer.incoming.limits import LIMITS, FileRefused, Limits, Unfit
from conversations.transfer.incoming.preparing import Prepared, prepared
from conversations.transfer.incoming.units import Opened, Unit, units

log = structlog.get_logger(__name__)

BEAT = 5.0
"""Seconds between two renewals; also how soon the worker learns that nobody wants the import any longer."""
NO_KIND = "It is no conversation of the kind the others in the file are."
BREAKS_RULES = "It breaks a rule that every conversation here keeps, so nothing of it was stored."
NO_MEMORY = "It takes more memory than there is."

Outcome = ImportResult.Outcome


def run(import_id: UUID, *, limits: Limits = LIMITS) -> Import | None:
    """Read a queued import; one that another worker has, or that is gone, is left alone, and so is None."""
    claimed = imports.claim(import_id, now=timezone.now())
    if claimed is None:
        return None
    try:
        with files.path_of(claimed.owner_id, claimed.pk).open("rb") as file:
            why = _Reader(claimed, limits).read(file)
    except imports.LeaseLost:
        log.info("import_not_wanted", id=str(import_id))
        imports.finish(claimed, now=timezone.now(), error=imports.INTERRUPTED)
        return None
    except Exception as error:
        # The edge of the worker: without its word the import would be waited for until the lease has run out thrice.
        imports.finish(claimed, now=timezone.now(), error=imports.INTERNAL)
        if isinstance(error, MemoryError | OSError):
            log.warning("import_failed", id=str(import_id), error=type(error).__name__)
            return None
        raise
    imports.finish(claimed, now=timezone.now(), error=why)
    return claimed


class _Reader:
    """Goes through a file for one import, from where an earlier attempt has ended."""

    def __init__(self, claimed: Import, limits: Limits) -> None:
        self._run, self._limits = claimed, limits
        self._now = timezone.now()
        self._number = 0
        self._beaten = time.monotonic()

    def read(self, file: IO[bytes]) -> str:
        """Empty, or why the file was not read to its end."""
        try:
            container = opened_container(file, files.path_of(self._run.owner_id, self._run.pk), self._limits)
            is_known = False
            for opened in container.documents():
                is_known |= self._read_document(opened, container)
        except FileRefused as refusal:
            return self._after(str(refusal))
        if not is_known:
            what = "There is nothing in this ZIP that" if isinstance(container, Archive) else "This is nothing that"
            return f"{what} is known here. {EXPECTED}"
        return ""

    def _after(self, why: str) -> str:
        return f"{why} The {self._number:,} conversations before that were dealt with." if self._number else why

    def _read_document(self, opened: Opened, container: Container) -> bool:
        """False: it holds no conversations, as other parts of an archive do not."""
        kind: Format | None = None
        for unit in self._units(opened, container):
            kind = kind or format_of(unit.value)
            if kind is None and not unit.refused:
                return False
            if kind and not self._run.source:
                self._run.source = kind.NAME
                imports.tell_source(self._run, kind.NAME)
            self._number += 1
            if self._number > self._limits.conversations:
                raise FileRefused(f"It has more than {self._limits.conversations:,} conversations, which is the most.")
            if self._number > self._run.seen:
                self._deal_with(unit, kind, container)
        return kind is not None

    def _units(self, opened: Opened, container: Container) -> Iterator[Unit]:
        """What is no JSON is none of ours in an archive that has other things in it, too, until it has begun well."""
        found = 0
        try:
            for unit in units(opened, limits=self._limits, beat=self._beat):
                found += 1
                yield unit
        except FileRefused:
            if found or not isinstance(container, Archive):
                raise

    def _beat(self) -> None:
        if time.monotonic() - self._beaten > BEAT:
            self._beaten = time.monotonic()
            imports.renew(self._run, now=timezone.now())

    def _deal_with(self, unit: Unit, kind: Format | None, container: Container) -> None:
        if unit.refused or kind is None or not kind.is_one(unit.value):
            self._refuse(unit.refused or NO_KIND, "")
            return
        title = reading.text(unit.value.get("title")) or reading.text(unit.value.get("name"))
        try:
            read = kind.read(unit.value, container, now=self._now)
            one = prepared(read, takes_instructions=self._run.takes_instructions, limits=self._limits)
            self._store(one)
        except Unfit as refusal:
            self._refuse(str(refusal), title)
        except (IntegrityError, DataError) as error:
            rule = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
            log.warning("import_breaks_rules", id=str(self._run.pk), error=type(error).__name__, rule=rule)
            self._refuse(BREAKS_RULES, title)
        except MemoryError:
            self._refuse(NO_MEMORY, title)

    def _store(self, one: Prepared) -> None:
        """In one transaction: the conversation, its result, and that it was dealt with."""
        with transaction.atomic():
            imports.hold(self._run)
            if same := known.same_as(one, self._run.owner):
                self._tell(same.outcome, conversation=same.id, detail=same.sentence)
                return
            detail = " ".join([*known.earlier_states(one, self._run.owner), *one.conversation.notes])
            if self._run.is_dry_run:
                self._expect_a_life(one)
                self._tell(Outcome.IMPORTED, title=one.conversation.title, detail=detail)
                return
            made = writing.write(one, self._run.owner)
            known.expect_visible(made, self._run.owner)
            self._tell(Outcome.IMPORTED, conversation=made, detail=detail)

    def _expect_a_life(self, one: Prepared) -> None:
        """Raises `Unfit` where storing it would. Rules are asked of rows, so there is one for a moment."""
        before = transaction.savepoint()
        known.expect_visible(writing.begin(one, self._run.owner).pk, self._run.owner)
        transaction.savepoint_rollback(before)

    def _refuse(self, why: str, title: str) -> None:
        with transaction.atomic():
            imports.hold(self._run)
            self._tell(Outcome.REFUSED, title=title, detail=why)

    def _tell(self, outcome: Outcome, *, conversation: UUID | None = None, title: str = "", detail: str = "") -> None:
        result = ImportResult(
            run=self._run,
            number=self._number,
            outcome=outcome,
            conversation_id=conversation,
            title=preview(line(title), 200),
            detail=detail,
        )
        imports.tell(self._run, result, now=timezone.now())


def imported(run_id: UUID) -> Iterator[UUID]:
    """The conversations an import has made, in order."""
    rows = ImportResult.objects.filter(run=run_id, outcome=Outcome.IMPORTED, conversation__isnull=False)
    yield from rows.order_by("number").values_list("conversation_id", flat=True).iterator()
