"""The bundled embedder: the same vectors, with a table of words that processes share."""

from pathlib import Path

import numpy as np
import pytest

from conversations.providers import embedding
from conversations.providers.embedding import BundledEmbedder, shared
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
