"""`manage.py replay_erasures FILE`: after a backup was restored, erase again what receipts say was erased."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from conversations.refusals import Held
from conversations.retention import finishing, receipts, replaying


class Command(BaseCommand):
    help = (
        "Erase again what a restored backup has brought back. FILE is what the admin saves of receipts as JSON. Run it "
        "before anybody uses the restored database; it is safe to run twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002  # Django's signature
        try:
            kept = receipts.read(options["file"].read_text())
            made = replaying.replay(kept, now=timezone.now())
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be read: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise CommandError(f"{options['file']} is no text.") from error
        except (receipts.BadReceipts, Held) as error:
            raise CommandError(str(error)) from error
        finished = finishing.finish(now=timezone.now())
        self.stdout.write(f"Looked for {len(kept)} receipts: {len(made)} had come back and were erased again.")
        if finished.failed:
            raise CommandError(f"{finished.failed} receipts could not be verified; the admin says what is left.")
