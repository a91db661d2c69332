"""`manage.py index_messages`: everything that was said is found again, also what is older than the index."""

from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from conversations import index, recollections
from conversations.models import Conversation
from conversations.providers.errors import ProviderError
from conversations.querysets import present

MOST_IN_A_ROW = 5
"""Conversations that fail one after the other: then the embedder is not asked about the others."""


class Command(BaseCommand):
    help = (
        "Put the messages into the index of recall that it lacks, or that an older version or another embedder put "
        "there: once after an update and after a change of the embedder. May be broken off, goes on where it was, and "
        "does no harm while people chat: what is missing is also made when it is needed. What fails in one "
        "conversation keeps no other out."
    )

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002  # Django's signature
        try:
            missing = index.unindexed().filter(conversation__in=Conversation.objects.filter(present()))
        except ProviderError as error:
            raise CommandError(f"The embedder cannot be asked ({error.code}).") from error
        total, done, failed, in_a_row = missing.count(), 0, Counter[str](), 0
        # The index may grow while this runs, so each conversation is asked what it lacks.
        for conversation_id in list(missing.order_by("conversation").values_list("conversation", flat=True).distinct()):
            lacked = index.unindexed(conversation_id).count()
            try:
                done += recollections.write_all_missing(conversation_id)
                in_a_row = 0
            except ProviderError as error:
                done += lacked - index.unindexed(conversation_id).count()
                failed[error.code] += 1
                in_a_row += 1
                self.stderr.write(f"Conversation {conversation_id}: {error.code}")
            self.stdout.write(f"{done} of {total}", ending="\r" if self.stdout.isatty() else "\n")
            if in_a_row == MOST_IN_A_ROW:
                break
        self.stdout.write(f"{done} messages were put into the index.")
        if failed:
            raise CommandError(_told(failed, gave_up=in_a_row == MOST_IN_A_ROW))


def _told(failed: Counter[str], *, gave_up: bool) -> str:
    """What went wrong, by its code; the conversations are named above it."""
    codes = ", ".join(f"{code} ({count})" for code, count in failed.most_common())
    rest = " It was not asked any further." if gave_up else ""
    return f"In {failed.total()} conversations the embedder did not answer: {codes}.{rest}"
