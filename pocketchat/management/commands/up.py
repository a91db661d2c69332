"""`manage.py up`: PocketChat with everything it needs, until Ctrl-C."""

import argparse
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from pocketchat.embedded import product
from pocketchat.embedded.errors import CannotStart
from pocketchat.embedded.terminal import Terminal


class Command(BaseCommand):
    help = "Run PocketChat: the web, the workers, and every service that the settings leave to us."
    requires_system_checks = []  # product.run says their findings in one line

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--host", default=settings.POCKETCHAT_HOST, help="address to listen on (%(default)s)")
        parser.add_argument("--port", default=settings.POCKETCHAT_PORT, type=int, help="port (%(default)s)")

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            product.run(product.Address(options["host"], options["port"]), terminal=Terminal())
        except CannotStart as error:
            self.stderr.write(str(error))
            raise SystemExit(1) from None
