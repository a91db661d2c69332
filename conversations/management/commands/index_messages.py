"""`manage.py index_messages`: everything that was said is found again, also what is older than the index."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from conversations import index, recollections
from conversations.providers.errors import ProviderError


class Command(BaseCommand):
    help = (
        "Put the messages into the index of recall that it lacks, or that another embedder made: once after an update "
        "and after a change of the embedder. May be broken off, goes on where it was, and does no harm while people "
        "chat: what is missing is also made when it is needed."
    )

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002  # Django's signature
        missing = index.unindexed()
        total, done = missing.count(), 0
        # The index may grow while this runs, so each conversation is asked what it lacks.
        for conversation_id in list(missing.order_by("conversation").values_list("conversation", flat=True).distinct()):
            try:
                done += recollections.write_all_missing(conversation_id)
            except ProviderError as error:
                raise CommandError(f"The embedder does not answer ({error.code}); {done} messages are done.") from error
            self.stdout.write(f"{done} of {total}", ending="\r" if self.stdout.isatty() else "\n")
        self.stdout.write(f"{done} messages are in the index now that were not.")
