"""The web process: `python -m pocketchat.embedded.web DESCRIPTOR`.

It serves a socket that is listening already. The supervisor keeps that socket, so while a web process that ended is
being replaced, browsers wait a moment instead of being refused.
"""

import socket
import sys

import uvicorn

GRACE = 3
"""Seconds that open responses get at the end. Live replies are open as long as they last, and viewers come back."""


def serve(listening: socket.socket) -> None:
    config = uvicorn.Config(
        "pocketchat.asgi:application",
        log_config=None,  # Django's logging is in force.
        access_log=False,
        server_header=False,
        lifespan="off",  # Django knows none.
        loop="uvloop",
        http="httptools",
        timeout_graceful_shutdown=GRACE,
    )
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
