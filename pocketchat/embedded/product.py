"""The whole product under one supervisor: what `manage.py up` does."""

import socket
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.checks import run_checks

from pocketchat.checks import TAG
from pocketchat.embedded import broker, database, folders, ollama, services, static_files
from pocketchat.embedded.errors import CannotStart
from pocketchat.embedded.interruption import Interruption
from pocketchat.embedded.listening import free_port, is_loopback, listen
from pocketchat.embedded.places import Places
from pocketchat.embedded.service import Service
from pocketchat.embedded.supervisor import Supervisor
from pocketchat.embedded.terminal import Terminal


@dataclass(frozen=True)
class Address:
    host: str
    port: int

    @property
    def url(self) -> str:
        """Where to open it on this machine."""
        return f"http://localhost:{self.port}"


def run(address: Address, *, terminal: Terminal) -> None:
    """Start everything and look after it until interrupted.

    Raises:
        CannotStart: with what stands in the way.
    """
    expect_sound_settings()
    expect_protected(address)
    places: Places = settings.PLACES
    folders.make_folders(places)
    with folders.lock(places) as held, listen(address.host, address.port) as listening:
        folders.sign(held, address=address.url)
        interruption = Interruption()
        supervisor = Supervisor(logs=places.logs, terminal=terminal, interruption=interruption)
        try:
            Start(supervisor, terminal, places).everything(address, listening)
            supervisor.watch()
        except KeyboardInterrupt:
            terminal.line()
        finally:
            supervisor.stop()


def expect_sound_settings() -> None:
    """Raises `CannotStart` with the first thing our system checks hold against the settings.

    Django's own are for developers, and would load all pages into the supervisor.
    """
    errors = [found for found in run_checks(tags=[TAG]) if found.is_serious()]
    if errors:
        raise CannotStart(f"{errors[0].msg} {errors[0].hint or ''}".strip())


def expect_protected(address: Address) -> None:
    """Refuse to listen for other machines without a proxy that speaks https.

    Raises:
        CannotStart: with the settings that help.
    """
    if settings.POCKETCHAT_URL.startswith("https:") or settings.POCKETCHAT_ALLOW_HTTP or is_loopback(address.host):
        return
    raise CannotStart(
        f"Through {address.host} passwords and conversations would travel unprotected: set POCKETCHAT_URL=https://… "
        "and put a proxy in front that has a certificate, or say with POCKETCHAT_ALLOW_HTTP=true that the network "
        "is trusted."
    )


@dataclass(frozen=True)
class Start:
    """One start, step by step."""

    supervisor: Supervisor
    terminal: Terminal
    places: Places

    def everything(self, address: Address, listening: socket.socket) -> None:
        self._expect_services_of_others()
        model = None if settings.POCKETCHAT_CHAT_MODEL else services.model(free_port())
        if model:
            self.supervisor.launch(model.service)  # It loads while the others start.
        self._start_servers()
        has_accounts = self._prepare()
        workers = services.Workers(
            {"POCKETCHAT_PORT": str(address.port), "POCKETCHAT_BUNDLED_URL": model.url if model else ""}
        )
        self._start(workers.web(listening))
        self._launch_workers(workers)
        if model:
            self._await(model.service)
        self._welcome(address, has_accounts=has_accounts)

    def _expect_services_of_others(self) -> None:
        if not settings.POCKETCHAT_EMBEDDED_DATABASE:
            with database.connect(settings.DATABASES["default"]) as connection:
                database.expect_fit(connection)
        if not settings.POCKETCHAT_EMBEDDED_REDIS:
            broker.expect_answer(settings.REDIS_URL)

    def _start_servers(self) -> None:
        if settings.POCKETCHAT_EMBEDDED_DATABASE:
            self._start(services.database(self.places))
            database.ensure_database(self.places, str(settings.DATABASES["default"]["NAME"]))
        if settings.POCKETCHAT_EMBEDDED_REDIS:
            self._start(services.queue(self.places))

    def _prepare(self) -> bool:
        """Schema and static files; whether somebody has an account already."""
        self.terminal.began("Database schema and static files")
        database.migrate(settings.DATABASES["default"])
        has_accounts = get_user_model().objects.exists()
        database.disconnect()
        static_files.collect()
        self.terminal.ended("up to date")
        return has_accounts

    def _launch_workers(self, workers: services.Workers) -> None:
        self.terminal.began("The workers")
        self.supervisor.launch(workers.replies())
        self.supervisor.launch(workers.background())
        self.terminal.ended("started")

    def _start(self, service: Service) -> None:
        self.terminal.began(service.title)
        self.supervisor.launch(service)
        self.supervisor.await_ready(service)
        self.terminal.ended()

    def _await(self, service: Service) -> None:
        self.terminal.began(service.title)
        self.supervisor.await_ready(service)
        self.terminal.ended()

    @staticmethod
    def _public(address: Address) -> str:
        """Where a proxy speaks https for us, requests to this machine's own address are sent there."""
        return settings.POCKETCHAT_URL if settings.POCKETCHAT_URL.startswith("https:") else address.url

    def _welcome(self, address: Address, *, has_accounts: bool) -> None:
        self.terminal.line()
        self.terminal.line(f"PocketChat runs at {self._public(address)}")
        if not has_accounts:
            self.terminal.line("The first account that signs up there becomes the administrator.")
        self.terminal.line(f"Data is in {self.places.var}, logs are in {self.places.logs}. Ctrl-C stops everything.")
        hint = None if settings.POCKETCHAT_CHAT_MODEL else ollama.offer()
        if hint:
            self.terminal.line(hint)
