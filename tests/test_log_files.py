"""Log lines are taken out by id, and by age, while several processes write them; none of the others is lost."""

import json
import logging
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from conversations import log_files
from conversations.log_files import FileHandler
from tests.stack import ROOT

WRITERS = 3
LINES = 1500


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def handler_of(path: Path, *, max_bytes: int = 10_000_000, files_kept: int = 3) -> FileHandler:
    return FileHandler(str(path), max_bytes=max_bytes, files_kept=files_kept)


def write(handler: FileHandler, words: str) -> None:
    handler.emit(logging.LogRecord("test", logging.INFO, "", 0, words, None, None))


def lines_in(folder: Path) -> list[str]:
    return [line for path in sorted(folder.glob("*.jsonl*")) for line in path.read_text().splitlines()]


def test_lines_of_an_id_go_from_all_files_and_no_others(folder: Path) -> None:
    gone, stays = str(uuid4()), str(uuid4())
    handler = handler_of(folder / "web.jsonl", max_bytes=400)
    for number in range(8):
        write(handler, f'{{"n": {number}, "turn": "{gone if number % 2 else stays}", "key": "events:{gone[:8]}"}}')
    assert len(log_files.families(folder)[folder / "web.jsonl"]) > 1
    assert log_files.count_lines(folder, {gone}) == {gone: 4}
    assert log_files.remove_lines(folder, {gone}) == {gone: 4}
    assert log_files.count_lines(folder, {gone}) == {}
    assert sorted(json.loads(line)["n"] for line in lines_in(folder)) == [0, 2, 4, 6]


def test_whoever_had_the_file_open_writes_on_into_the_new_one(folder: Path) -> None:
    gone = str(uuid4())
    handlers = [handler_of(folder / "web.jsonl") for _ in range(2)]
    for handler in handlers:
        write(handler, gone)
    log_files.remove_lines(folder, {gone})
    for number, handler in enumerate(handlers):
        write(handler, f"after {number}")
    assert lines_in(folder) == ["after 0", "after 1"]


def test_an_id_within_a_longer_line_and_in_what_a_process_printed_is_found(folder: Path) -> None:
    gone = str(uuid4())
    (folder / "web.out").write_text(f"Traceback of pocketchat:events:{gone}!\nkept\n")
    assert log_files.remove_lines(folder, {gone}) == {gone: 1}
    assert (folder / "web.out").read_text() == "kept\n"


def test_the_oldest_of_the_rotated_files_goes(folder: Path) -> None:
    handler = handler_of(folder / "web.jsonl", max_bytes=20, files_kept=2)
    for number in range(6):
        write(handler, f"line number {number}")
    assert lines_in(folder) == ["line number 5", "line number 4", "line number 3"]


def aged(at: str, name: str) -> str:
    return json.dumps({"event": name, "timestamp": f"{at}.123456Z"})


def test_old_lines_go_and_rotated_files_without_any_other(folder: Path) -> None:
    (folder / "web.jsonl.1").write_text(aged("2026-11-01T10:00:00", "old") + "\n")
    current = [aged("2026-11-01T11:00:00", "old"), "of no time", aged("2026-11-20T00:00:01", "young"), "nor this"]
    (folder / "web.jsonl").write_text("\n".join(current) + "\n")
    assert log_files.age_out(folder, before=datetime(2026, 11, 20, tzinfo=UTC)) == 3
    assert lines_in(folder) == current[2:]
    assert not (folder / "web.jsonl.1").exists()
    assert log_files.age_out(folder, before=datetime(2026, 11, 20, tzinfo=UTC)) == 0


WRITER = """
import logging, sys
from conversations.log_files import FileHandler
path, name, gone, lines = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
handler = FileHandler(path, max_bytes=40_000, files_kept=50)
for number in range(lines):
    words = f'{{"writer": {name}, "n": {number}, "turn": "{gone if number % 3 == 0 else "none"}"}}'
    handler.emit(logging.LogRecord("test", logging.INFO, "", 0, words, None, None))
"""


def test_while_processes_write_and_rotate_no_other_line_is_lost(folder: Path) -> None:
    gone = str(uuid4())
    argv = [sys.executable, "-c", WRITER, str(folder / "web.jsonl")]
    writers = [subprocess.Popen([*argv, str(number), gone, str(LINES)], cwd=ROOT) for number in range(WRITERS)]
    removals = 0
    while any(writer.poll() is None for writer in writers):
        removals += bool(log_files.remove_lines(folder, {gone}))
        time.sleep(0.01)
    assert [writer.returncode for writer in writers] == [0] * WRITERS
    log_files.remove_lines(folder, {gone})
    assert removals > 2
    kept = sorted((line["writer"], line["n"]) for line in map(json.loads, lines_in(folder)))
    assert kept == [(writer, n) for writer in range(WRITERS) for n in range(LINES) if n % 3]
