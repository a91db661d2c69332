"""The embedded Valkey: reached through a Unix socket; what is queued in it survives a restart."""

import signal

import redis

from pocketchat.embedded.leftovers import end_leftovers
from pocketchat.embedded.places import Places
from pocketchat.embedded.process import Command
from pocketchat.embedded.wheels import valkey_server

SETTINGS = {
    "port": "0",
    "unixsocketperm": "700",
    "daemonize": "no",
    "save": "",
    # Queued tasks are written down once a second; a full memory refuses new ones instead of dropping old ones.
    "appendonly": "yes",
    "appendfsync": "everysec",
    "maxmemory-policy": "noeviction",
}


def prepare(places: Places) -> None:
    """Make the folder; nobody else's business."""
    places.run.mkdir(parents=True, exist_ok=True)
    places.valkey_data.mkdir(parents=True, exist_ok=True)
    places.valkey_data.chmod(0o700)
    end_leftovers(program="valkey-server", folder=places.valkey_data)


def server_command(places: Places) -> Command:
    settings = {**SETTINGS, "unixsocket": str(places.valkey_socket), "dir": str(places.valkey_data)}
    arguments = [argument for name, value in settings.items() for argument in (f"--{name}", value)]
    return Command(
        argv=(str(valkey_server()), *arguments),
        folder=places.valkey_data,
        when_orphaned=signal.SIGTERM,
    )


def is_ready(places: Places) -> bool:
    """False while it is not there or still reads what it had written down."""
    try:
        with redis.Redis(unix_socket_path=str(places.valkey_socket), socket_timeout=2) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False
