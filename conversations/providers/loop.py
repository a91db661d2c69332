"""The event loop on which this process asks its models, in a thread of its own.

One for all of them: a model's connections belong to the loop that opened them.
"""

import asyncio
import threading
from functools import cache

import uvloop


@cache
def models_loop() -> asyncio.AbstractEventLoop:
    """The first call starts its thread."""
    loop = uvloop.new_event_loop()
    threading.Thread(target=loop.run_forever, name="models", daemon=True).start()
    return loop
