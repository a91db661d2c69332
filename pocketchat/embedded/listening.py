"""The address people open: taken before anything else is started, and kept while web processes come and go."""

import errno
import http.client
import ipaddress
import socket

from pocketchat.embedded.errors import CannotStart

PORTS = range(1, 65536)
WAITING = 512
"""Connections that may wait while a web process is being started."""


def listen(host: str, port: int) -> socket.socket:
    """Take the address.

    Raises:
        CannotStart: somebody else has it, or it cannot be had.
    """
    if port not in PORTS:
        raise CannotStart(f"{port} is no port: choose one from {PORTS.start} to {PORTS.stop - 1}.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        raise CannotStart(_refusal(error, host, port)) from error
    listening.listen(WAITING)
    return listening


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens on `host`; False for a name nobody knows."""
    try:
        _, _, _, _, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
    except OSError:
        return False
    return ipaddress.ip_address(address[0]).is_loopback


def free_port() -> int:
    """A port on the loopback interface that nobody has at the moment."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port: int = trial.getsockname()[1]
        return port


def answers(host: str, port: int, path: str, *, seconds: float = 1.0) -> bool:
    """Whether a web server there gives an answer that is no failure of its own."""
    connection = http.client.HTTPConnection(_reachable(host), port, timeout=seconds)
    try:
        connection.request("GET", path, headers={"Host": "localhost"})
        return connection.getresponse().status < http.client.INTERNAL_SERVER_ERROR
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _reachable(host: str) -> str:
    """The wildcard addresses are for listening; this machine is reached by its own."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104  # nothing listens there


def _refusal(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} of {host} is taken by another program: choose another with --port or POCKETCHAT_PORT."
    return f"Port {port} of {host} cannot be listened on: {error.strerror}."
