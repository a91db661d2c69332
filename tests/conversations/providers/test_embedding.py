"""The bundled embedder: the same vectors, with a table of words that processes share."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conversations.providers import embedding
from conversations.providers.embedding import BundledEmbedder, _write, shared
from conversations.providers.errors import ProviderError

TABLE = np.arange(4096, dtype=np.uint8).reshape(64, 64)


def is_mapped(table: embedding.Table) -> bool:
    return not table.flags.writeable and isinstance(table.base, np.memmap)


def test_the_table_is_read_from_one_file(tmp_path: Path) -> None:
    file = tmp_path / "embedder" / "table.npy"
    first = shared(TABLE, file)
    written = file.stat().st_ino
    second = shared(TABLE, file)
    assert all(is_mapped(table) and np.array_equal(table, TABLE) for table in (first, second))
    assert file.stat().st_ino == written
    assert [path.name for path in file.parent.iterdir()] == ["table.npy"]


@pytest.mark.parametrize("content", [b"", b"no table", b"\x93NUMPY\x01\x00"])
def test_a_file_that_holds_something_else_is_written_anew(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "table.npy"
    file.write_bytes(content)
    assert np.array_equal(shared(TABLE, file), TABLE)
    np.save(file, TABLE[::-1])
    assert np.array_equal(shared(TABLE, file), TABLE)


def test_nothing_is_left_of_a_file_that_could_not_be_put_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "table.npy").mkdir()
    with pytest.raises(IsADirectoryError):
        _write(TABLE, tmp_path / "table.npy")
    assert [file.name for file in tmp_path.iterdir()] == ["table.npy"]


def test_where_no_file_can_be_written_each_process_keeps_its_own(tmp_path: Path) -> None:
    (tmp_path / "embedder").write_text("no folder")
    assert shared(TABLE, tmp_path / "embedder" / "table.npy") is TABLE


def test_whoever_cannot_wait_until_it_is_loaded_is_told(tmp_path: Path) -> None:
    embedder = BundledEmbedder(tmp_path)
    with pytest.raises(ProviderError, match="timed_out"):
        embedder.embed(["Why?"], seconds=0)
    [first] = embedder.embed(["Why?"], seconds=60).vectors
    assert np.linalg.norm(first) == pytest.approx(1, abs=1e-3)
    assert is_mapped(embedder._model().result()._model.table)


LONG = ["A long text about many things, one after the other, and then some. " * 30] * 64


def meanwhile(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_question_gets_in_between_the_pieces_of_a_batch(tmp_path: Path) -> None:
    embedder = BundledEmbedder(tmp_path)
    embedder.embed(["Why?"], seconds=60)
    batch = meanwhile(lambda: embedder.embed(LONG, seconds=120))
    time.sleep(0.3)
    for _ in range(2):
        assert len(embedder.embed(["Why?"], seconds=60).vectors) == 1
        assert batch.is_alive()
    batch.join()


def test_pieces_are_put_together_in_order(tmp_path: Path) -> None:
    embedder = BundledEmbedder(tmp_path)
    texts = [f"Number {number}" for number in range(3 * embedding.PIECE + 1)]
    together = np.array(embedder.embed(texts, seconds=60).vectors)
    alone = np.array([embedder.embed([text], seconds=60).vectors[0] for text in texts])
    assert together == pytest.approx(alone, abs=1e-3)


def test_nobody_waits_longer_than_they_said_while_others_embed(tmp_path: Path) -> None:
    embedder = BundledEmbedder(tmp_path)
    embedder.embed(["Why?"], seconds=60)
    with embedder._working:
        began = time.monotonic()
        waiting = [meanwhile(lambda: refuses(embedder, 0.4)) for _ in range(3)]
        refuses(embedder, 0.4)
        for thread in waiting:
            thread.join()
        assert time.monotonic() - began < 0.8  # All waits together.
    began = time.monotonic()
    refuses(embedder, 0.5, LONG)  # Nor while they are embedded themselves.
    assert time.monotonic() - began < 3
    assert embedder.embed(["Why?"], seconds=60).vectors


def refuses(embedder: BundledEmbedder, seconds: float, texts: list[str] | None = None) -> None:
    with pytest.raises(ProviderError, match="timed_out"):
        embedder.embed(texts or ["Why?"], seconds=seconds)


@pytest.mark.parametrize("fault", [MemoryError, OSError])
def test_one_that_could_not_be_loaded_is_loaded_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: type[Exception]
) -> None:
    tried = []

    def fails(*args: Any, **kwargs: Any) -> Any:
        tried.append(args)
        raise fault

    embedder = BundledEmbedder(tmp_path)
    with monkeypatch.context() as broken:
        broken.setattr(embedding, "shared", fails)
        for _ in range(3):
            with pytest.raises(ProviderError, match="provider_down"):
                embedder.embed(["Why?"], seconds=60)
        assert len(tried) == 1, "it takes a second or two each time"
    monkeypatch.setattr(embedding, "AGAIN_SECONDS", 0)
    embedder._again_at = 0
    assert embedder.embed(["Why?"], seconds=60).vectors
