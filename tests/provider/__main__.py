"""`python -m tests.provider --port N`: the provider as a process of its own, driven over HTTP (see `control`)."""

import argparse
import asyncio
import signal
import sys

import uvloop

from tests.provider.records import RequestLog
from tests.provider.replies import steady
from tests.provider.script import Script
from tests.provider.scripted import MODELS
from tests.provider.server import Server


async def serve(port: int, *, deltas: int, per_second: float) -> None:
    server = Server(Script(steady(deltas, per_second=per_second)), RequestLog(), models=MODELS)
    stop = asyncio.Event()
    for sign in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(sign, stop.set)
    listening = await server.listen(port)
    sys.stdout.write(f"http://127.0.0.1:{listening}\n")
    sys.stdout.flush()
    await stop.wait()
    await server.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.provider", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: any free port; the address is printed")
    parser.add_argument("--deltas", type=int, default=100, help="deltas of the default reply")
    parser.add_argument("--per-second", type=float, default=20.0, help="deltas a second of the default reply")
    arguments = parser.parse_args()
    uvloop.run(serve(arguments.port, deltas=arguments.deltas, per_second=arguments.per_second))


if __name__ == "__main__":
    main()
