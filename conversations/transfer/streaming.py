"""Files sent while they are made: a thread writes at the database's pace, the event loop sends at the reader's.

Between them stands a file without a name. A reader on a slow line holds neither a transaction nor a thread, and what
lies there is gone with the answer, or with the process.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing, closing
from pathlib import Path
from typing import IO

from django.conf import settings
from django.db import connections

CHUNK = 65_536
"""Bytes."""
PIECES = 100
"""Written together."""

_writers = ThreadPoolExecutor(4, thread_name_prefix="exports")
"""Further exports wait; pages and replies have threads of their own."""

Pieces = Callable[[], Generator[str, None, None]]


class _Spool:
    """`size` bytes are there to be read; `tell` wakes whoever waits for more. `is_left`: nobody reads any longer."""

    def __init__(self, file: IO[bytes], tell: Callable[[], object]) -> None:
        self._file = file
        self._tell = tell
        self.size = 0
        self.is_left = False

    def fill(self, pieces: Pieces) -> None:
        try:
            waiting: list[str] = []
            # Closed here, in its thread: it may be in the middle of a transaction.
            with closing(pieces()) as made:
                for piece in made:
                    if self.is_left:
                        return
                    waiting.append(piece)
                    if len(waiting) >= PIECES or len(piece) > CHUNK:
                        self._write(waiting)
                self._write(waiting)
        finally:
            connections.close_all()

    def _write(self, waiting: list[str]) -> None:
        written = self._file.write("".join(waiting).encode())
        self._file.flush()
        waiting.clear()
        self.size += written
        self._tell()


async def sent_while_made(pieces: Pieces) -> AsyncGenerator[bytes, None]:
    """What `pieces` yields, which is called and read in a thread with a database connection of its own.

    A fault in it ends the answer before its end, which the client sees as a broken connection, not as a whole file.
    """
    loop, grown = asyncio.get_running_loop(), asyncio.Event()

    def tell() -> None:
        loop.call_soon_threadsafe(grown.set)

    with tempfile.TemporaryFile(dir=_folder()) as file:
        spool = _Spool(file, tell)
        writing = _writers.submit(spool.fill, pieces)
        writing.add_done_callback(lambda _: tell())
        try:
            async with aclosing(_taken(file, spool, writing, grown)) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            spool.is_left = True
            # The file must not be closed under its writer, who stops at the next piece.
            if not writing.cancel():
                await asyncio.wait([asyncio.wrap_future(writing)])


async def _taken(
    file: IO[bytes], spool: _Spool, writing: "Future[None]", grown: asyncio.Event
) -> AsyncGenerator[bytes, None]:
    """What is there, then what is added, until the writer has ended and everything was taken."""
    taken = 0
    while True:
        grown.clear()
        is_whole = writing.done()
        if taken < spool.size:
            chunk = await asyncio.to_thread(os.pread, file.fileno(), CHUNK, taken)
            taken += len(chunk)
            yield chunk
        elif is_whole:
            writing.result()
            return
        else:
            await grown.wait()


async def sent_from(path: Path) -> AsyncGenerator[bytes, None]:
    """A file that is there; who has begun to read it reads all of it, even when it is removed meanwhile."""
    with await asyncio.to_thread(path.open, "rb") as file:
        while chunk := await asyncio.to_thread(file.read, CHUNK):
            yield chunk


def _folder() -> Path:
    folder = settings.PLACES.exports
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Path(folder)
