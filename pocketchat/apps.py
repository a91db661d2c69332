from django.apps import AppConfig
from django.core.checks import register

from pocketchat import checks


class PocketChatConfig(AppConfig):
    name = "pocketchat"

    def ready(self) -> None:
        for check in checks.CHECKS:
            register(check, checks.TAG)
